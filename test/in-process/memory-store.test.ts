import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { questionsOf } from '../../src/core/run/answers/open-questions.ts';
import { findOpenQuestion, submitAnswer } from '../../src/core/run/answers/submit-answer.ts';
import { followToEnd } from '../../src/core/run/follow-to-end.ts';
import { readEvents } from '../../src/core/run/read-log.ts';
import { readRun } from '../../src/core/run/read-run.ts';
import type { RunRequest } from '../../src/core/run/run-request.ts';
import { startRun } from '../../src/core/run/start-run.ts';
import { servicesInMemory } from '../support/services-in-memory.ts';
import { WorkflowProject } from '../support/workflow-project.ts';

// Real tools, supervised in this process, with their runs in memory: the runner works with any store that fulfils the ports.
describe('with a store in memory', () => {
  let project: WorkflowProject;
  let services: Awaited<ReturnType<typeof servicesInMemory>>;
  before(async () => {
    project = new WorkflowProject(['asks', 'holds', 'exits_with', 'quick', 'steps_once']);
    services = await servicesInMemory(project);
  });
  after(() => project[Symbol.dispose]());

  const request = (tool: string, args: string[] = [], more: Partial<RunRequest> = {}): RunRequest => {
    return { kind: 'tool', tool, args, cwd: project.root, env: project.environment(), ...more };
  };

  async function events(runId: string): Promise<Record<string, unknown>[]> {
    const found: Record<string, unknown>[] = [];
    for await (const event of readEvents(services.store, runId, { wait: false })) found.push(event);
    return found;
  }

  /** Waits until such an event is in the log. */
  async function stored(runId: string, isMeant: (event: Record<string, unknown>) => boolean): Promise<void> {
    for await (const event of readEvents(services.store, runId, { wait: true })) if (isMeant(event)) return;
  }

  it('a tool runs to its end, and its log is whole', async () => {
    const run = await startRun(services, request('quick'));
    const { state, events: count } = await run.ended;
    const seqs = (await events(run.runId)).map(({ seq }) => seq);
    assert.equal(state, 'completed');
    assert.deepEqual(
      seqs,
      Array.from({ length: count }, (_, index) => index + 1),
    );
    assert.equal(await services.store.leases.inspect(run.runId), 'none');
  });

  it('a resume on a machine without the workspace continues from the checkpoints', async () => {
    const failed = await startRun(services, request('steps_once', ['--how', 'fails']));
    assert.equal((await failed.ended).state, 'failed');
    const { dir } = services.workspaces.of(failed.runId);
    rmSync(dir, { recursive: true });
    const again = { runId: failed.runId, mode: 'resume' } as const;
    const resumed = await startRun(services, request('steps_once', ['--how', 'fails'], { again }));
    assert.equal((await resumed.ended).state, 'completed');
    const starts = (await events(failed.runId)).filter(({ type }) => type === 'start');
    assert.deepEqual(
      starts.map(({ args }) => (args as { done: number }).done),
      [0, 2],
    );
  });

  it('a retry begins without the checkpoints that were kept', async () => {
    const failed = await startRun(services, request('steps_once', ['--how', 'fails']));
    await failed.ended;
    const again = { runId: failed.runId, mode: 'retry' } as const;
    const retried = await startRun(services, request('steps_once', ['--how', 'fails'], { again }));
    await retried.ended;
    const starts = (await events(failed.runId)).filter(({ type }) => type === 'start');
    assert.deepEqual(
      starts.map(({ args }) => (args as { done: number }).done),
      [0, 0],
    );
    const writer = await services.store.takeOver(failed.runId);
    const { checkpoints } = services.workspaces.of(failed.runId);
    await writer.restoreCheckpoints(checkpoints);
    assert.deepEqual(readdirSync(checkpoints), []);
    await writer.close();
  });

  it('a failure is recorded with its code', async () => {
    const run = await startRun(services, request('exits_with', ['3']));
    const { state, rc } = await run.ended;
    assert.deepEqual([state, rc], ['failed', 3]);
    assert.deepEqual((await services.store.read(run.runId)).rc, 3);
  });

  it('a question is answered through the control channel', async () => {
    const run = await startRun(services, request('asks'));
    await stored(run.runId, ({ type, to }) => type === 'runner_state' && to === 'waiting_ai');
    const question = await findOpenQuestion(services.store, run.runId);
    const value = question.options?.[0]?.id ?? 'yes';
    await submitAnswer(services.store, run.runId, question, { value, by: 'a test', source: 'command' });
    assert.equal((await run.ended).state, 'completed');
    const [asked] = await questionsOf(services.store, run.runId);
    assert.equal(asked?.answered?.answer, value);
  });

  it('a run is cancelled through the control channel', async () => {
    const run = await startRun(services, request('holds', [project.path('never')]));
    await stored(run.runId, ({ type }) => type === 'heartbeat');
    await services.store.control.requestCancel(run.runId, 'enough');
    const { state, message } = await run.ended;
    assert.deepEqual([state, message], ['cancelled', 'enough']);
  });

  it('a workflow runs its steps, each as a run of its own', async () => {
    const path = project.workflow({
      steps: [
        { name: 'each', foreach: ['x', 'y'], ...project.noting('${item}') },
        { name: 'last', ...project.noting('last') },
      ],
    });
    const run = await startRun(services, request(`workflow:${path}`, [], { kind: 'workflow' }));
    assert.equal((await run.ended).state, 'completed');
    assert.deepEqual(project.done(), ['last', 'x', 'y']);
    for (const runId of await services.store.list()) {
      for await (const _ of followToEnd(services.store, runId, { since: 0 }));
      assert.notEqual((await readRun(services.store, runId)).state, 'running');
    }
  });
});
