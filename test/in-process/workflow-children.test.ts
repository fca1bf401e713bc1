import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { LaunchRequest } from '../../src/core/ports/run-launcher.ts';
import type { RunWriter } from '../../src/core/ports/run-store.ts';
import { findOpenQuestion, submitAnswer } from '../../src/core/run/answers/submit-answer.ts';
import { stopped } from '../../src/core/run/outcome.ts';
import { enterState } from '../../src/core/run/write-ending.ts';
import { AcorError } from '../../src/protocol/acor-error.ts';
import { newRun } from '../contracts/new-run.ts';
import { endRun } from '../support/end-run.ts';
import { type EndedFlow, FlowsInMemory } from '../support/flows-in-memory.ts';
import { until } from '../support/project.ts';

describe('the children of a workflow', () => {
  let flows: FlowsInMemory;
  const noting = (say: string, more: Record<string, string> = {}) => flows.project.noting(say, more);
  const failing = (say: string, code = 'E_DISK_FULL') => noting(say, { fails_with: code });
  before(async () => {
    flows = await FlowsInMemory.open(['asks']);
    flows.project.write(
      'tools/reads/tool.yaml',
      'name: reads\nversion: 1.0.0\nadapter: plain\nstdin: records\n',
    );
    flows.project.write('tools/reads/cli.sh', '#!/bin/sh\ncat\n', 0o755);
    flows.project.write('tools/writes_json/tool.yaml', 'name: writes_json\nversion: 1.0.0\n');
    flows.project.write(
      'tools/writes_json/cli.sh',
      `#!/bin/bash\nprintf '{"type":"result","status":"ok","data":"%*s"}\\n' "$1" x\n`,
      0o755,
    );
  });
  beforeEach(() => flows.project.write('notes', ''));
  afterEach(() => {
    flows.launched.length = 0;
    flows.onLaunch = (request, start) => start(request);
  });
  after(() => flows[Symbol.dispose]());

  const submissions = ({ of }: EndedFlow, id: string) =>
    of('task_submitted').filter(({ task_id }) => task_id === id).length;

  describe('are requested', () => {
    it('with their place, a key for each try, the trace, and what the caller gave', async () => {
      const answers = [{ action: 'x', answer: 1, by: 'me', source: 'beforehand' as const }];
      const flow = await flows.run(
        {
          inputs: { list: { type: 'json', default: ['b', 'c'] } },
          steps: [
            {
              name: 'a.b',
              retry: { max: 1, on: ['E_DISK_FULL'], backoff_s: 0 },
              on_error: 'continue',
              timeout_s: 50,
              tool: 'notes_work',
              args: { ...failing('one').args, until: null },
            },
            {
              name: 'words',
              tool: 'notes_work',
              args: ['--say', '${inputs.list}', '--notes', flows.project.path('notes')],
            },
          ],
        },
        { answers, caller: 'an agent' },
      );
      const { run_id, trace_id, span_id } = await flows.services.store.read(flow.runId);
      const [first, second, words] = flows.launched;
      const { env, args, ...request } = first!;
      assert.equal(env.TRACEPARENT, `00-${trace_id}-${span_id}-01`);
      assert.deepEqual(request, {
        kind: 'tool',
        tool: 'notes_work',
        cwd: flows.project.root,
        parent: { run_id, task_id: 'a%2eb' },
        idempotencyKey: `${run_id}/a%2eb/1`,
        answers,
        timeoutS: 50,
        caller: 'an agent',
      });
      assert.equal(second!.idempotencyKey, `${run_id}/a%2eb/2`);
      assert.equal(args[0], '--input-json');
      assert.deepEqual(JSON.parse(args[1]!), {
        say: 'one',
        notes: flows.project.path('notes'),
        fails_with: 'E_DISK_FULL',
      });
      assert.deepEqual([words!.args[1], words!.timeoutS, words!.group], ['["b","c"]', undefined, undefined]);
      assert.deepEqual(flow.task('task_submitted', 'a%2eb').payload, {
        step: 'a.b',
        command: `notes_work ${args.join(' ')}`,
        key: `${run_id}/a%2eb/1`,
      });
      assert.equal('child_run_id' in flow.task('task_submitted', 'a%2eb'), false);
      assert.equal('since_seq' in flow.task('task_started', 'a%2eb'), false);
    });

    it('under a key that is short enough for any name', async () => {
      const name = 'n'.repeat(97);
      const { summary } = await flows.run({
        steps: [
          { name, foreach: ['a'], ...noting('a') },
          { name: `${name}n`, foreach: ['b'], ...noting('b') },
        ],
      });
      assert.equal(summary.state, 'completed');
      const keys = flows.launched.map(({ idempotencyKey }) => idempotencyKey!.split('/')[1]!);
      assert.equal(keys[0], `${name}[0]`);
      assert.match(keys[1]!, /^[0-9a-f]{64}$/);
    });

    it('without arguments where there are none, and as a pipe or a workflow', async () => {
      const inner = flows.project.workflow({ steps: [{ name: 'in', ...noting('in') }] }, 'inner.json');
      flows.onLaunch = async () => {
        throw new AcorError('E_POLICY_DENIED', 'no');
      };
      const flow = await flows.run({
        max_concurrency: 3,
        inputs: { word: { default: 'two words' } },
        on_error: 'continue',
        steps: [
          { name: 'bare', tool: 'writes_json', args: {} },
          { name: 'sub', workflow: './inner.json' },
          { name: 'piped', pipe: ['writes_json 1', 'reads ${inputs.word}'] },
        ],
      });
      const [bare, sub, piped] = flows.launched;
      assert.deepEqual(
        [piped!.kind, piped!.tool, piped!.args],
        ['pipe', 'pipe:writes_json|reads', ['writes_json 1', "reads 'two words'"]],
      );
      assert.equal(
        (flow.task('task_submitted', 'piped').payload as { command: string }).command,
        "writes_json 1 | reads 'two words'",
      );
      assert.deepEqual(bare!.args, []);
      assert.deepEqual([sub!.kind, sub!.tool, sub!.args], ['workflow', `workflow:${inner}`, []]);
      assert.deepEqual(sub!.group, { id: flow.runId, maxRuns: 3 });
      assert.deepEqual(flow.task('task_submitted', 'sub').payload, {
        step: 'sub',
        command: `workflow:${inner}`,
        key: `${flow.runId}/sub/1`,
      });
      const { status, code, msg, passed_over } = flow.task('task_done', 'bare');
      assert.deepEqual([status, code, msg, passed_over], ['failed', 'E_POLICY_DENIED', 'no', true]);
    });

    it('again when their supervisor could not be started, three times in all', async () => {
      const flow = { steps: [{ name: 'a', ...noting('a') }] };
      let failures = 2;
      flows.onLaunch = (request, start) => {
        if (failures-- > 0) throw new AcorError('E_SPAWN_FAILED', 'killed');
        return start(request);
      };
      const started = await flows.run(flow);
      assert.deepEqual([started.summary.state, flows.launched.length], ['completed', 3]);
      assert.equal(new Set(flows.launched.map(({ idempotencyKey }) => idempotencyKey)).size, 1);
      flows.launched.length = 0;
      failures = 3;
      const failed = await flows.run(flow);
      assert.deepEqual([failed.summary.code, flows.launched.length], ['E_SPAWN_FAILED', 3]);
      assert.equal(failed.of('task_started').length, 0);
    });
  });

  describe('are recorded', () => {
    it('with how they ended', async () => {
      const flow = await flows.run({
        steps: [
          { name: 'good', ...noting('good') },
          { name: 'bad', on_error: 'continue', ...failing('bad') },
        ],
      });
      for (const [id, expected] of [
        ['good', { status: 'ok', child_rc: 0, child_result: { said: 'good' } }],
        [
          'bad',
          { status: 'failed', child_rc: 30, code: 'E_DISK_FULL', msg: 'as requested', passed_over: true },
        ],
      ] as const) {
        const {
          child_result,
          events_count,
          child_run_id,
          v,
          ts,
          run_id,
          trace_id,
          span_id,
          seq,
          type,
          task_id,
          ...rest
        } = flow.task('task_done', id);
        const { child_result: result, ...others } = { child_result: null, ...expected };
        assert.deepEqual(rest, others);
        const child = await flows.child(flow.runId, id);
        assert.deepEqual([child_run_id, events_count], [child, (await flows.events(child)).length]);
        assert.deepEqual((child_result as { data?: unknown } | null)?.data ?? null, result);
      }
    });

    it('with their result, if it is not too large', async () => {
      const sizes = async (letters: number) => {
        const { task } = await flows.run({
          steps: [{ name: 'a', tool: 'writes_json', args: [`${letters}`] }],
        });
        return task('task_done', 'a').child_result as Record<string, unknown>;
      };
      const small = await sizes(10);
      const most = 4096 - JSON.stringify(small).length + 10;
      assert.equal(JSON.stringify(await sizes(most)).length, 4096);
      assert.deepEqual(await sizes(most + 1), { omitted: 'too large; see the log of the child' });
    });

    it('with their errors, and the step fails when one is cancelled by hand', async () => {
      const run = await flows.start({
        steps: [{ name: 'a', on_error: 'continue', ...noting('a', { until: flows.project.path('never') }) }],
      });
      await flows.project.noted('begin a');
      const child = await flows.child(run.runId, 'a');
      await flows.services.store.control.requestCancel(child, 'by hand');
      const { summary, task } = await flows.ended(run);
      const { status, code, msg, passed_over } = task('task_done', 'a');
      assert.deepEqual(
        [summary.state, status, code, msg, passed_over],
        ['completed', 'cancelled', 'E_TOOL_FAILED', `run ${child} was cancelled: by hand`, true],
      );
      const bad = await flows.run({ steps: [{ name: 'bad', ...failing('bad') }] });
      const error = bad.task('task_error', 'bad');
      assert.equal(error.child_run_id, await flows.child(bad.runId, 'bad'));
      const { type, code: own } = error.child_event as Record<string, unknown>;
      assert.deepEqual([type, own], ['error', 'E_DISK_FULL']);
    });
  });

  describe('are tried again', () => {
    const trying = (code: string, retry: Record<string, unknown>) =>
      flows.run({
        steps: [
          { name: 'a', retry: { backoff_s: 0, ...retry }, on_error: 'continue', ...failing('a', code) },
        ],
      });

    it('as often as the rule says, for errors that it names by code, by class, or as retryable', async () => {
      for (const [code, on, count] of [
        ['E_TRANSIENT_NET', ['E_TRANSIENT_NET'], 3],
        ['E_TRANSIENT_NET', ['retryable'], 3],
        ['E_TRANSIENT_NET', ['infra_error', 'user_error'], 1],
        ['E_DISK_FULL', ['infra_error'], 3],
        ['E_DISK_FULL', ['retryable'], 1],
      ] as const)
        assert.equal(submissions(await trying(code, { max: 2, on }), 'a'), count, `${code} ${on}`);
      assert.equal(submissions(await trying('E_TRANSIENT_NET', { max: 0, on: ['retryable'] }), 'a'), 1);
    });

    it('by a resume of the workflow, whose end says whether that helps', async () => {
      for (const exit of [20, 30]) {
        const tool = `exits_${exit}`;
        flows.project.write(`tools/${tool}/tool.yaml`, `name: ${tool}\nversion: 1.0.0\nidempotent: true\n`);
        flows.project.write(
          `tools/${tool}/cli.sh`,
          `#!/bin/sh\necho '{"type":"error","code":"E_TRANSIENT_NET","msg":"no line"}'\nexit ${exit}\n`,
        );
        const { summary } = await flows.run({ steps: [{ name: 'a', tool }] });
        assert.deepEqual([summary.code, summary.retryable], ['E_TRANSIENT_NET', exit === 20]);
      }
    });

    it('no further after one that worked', async () => {
      const flow = await flows.start({
        steps: [
          {
            name: 'a',
            retry: { max: 9, on: ['E_DISK_FULL'], backoff_s: 0.05 },
            ...noting('a', { fails_with: 'E_DISK_FULL', unless: flows.project.path('repaired') }),
          },
        ],
      });
      await flows.stored(flow.runId, ({ type }) => type === 'task_error');
      flows.project.write('repaired', '');
      const { summary, of } = await flows.ended(flow);
      assert.equal(summary.state, 'completed');
      assert.equal(of('task_done').length, 1);
    });
  });

  describe('whose failure is a question', () => {
    const asking = (code: string, more: Record<string, string> = {}) => ({
      steps: [
        { name: 'bad', on_error: 'ask', ...noting('bad', { fails_with: code, ...more }) },
        { name: 'after', ...noting('after ${steps.bad.ok}') },
      ],
    });

    async function answered(code: string, value: string) {
      const run = await flows.start(asking(code));
      const asked = await flows.stored(run.runId, ({ type }) => type === 'action_required');
      await flows.stored(run.runId, ({ type, to }) => type === 'runner_state' && to === 'waiting_ai');
      const question = await findOpenQuestion(flows.services.store, run.runId);
      await submitAnswer(flows.services.store, run.runId, question, {
        value,
        by: 'a test',
        source: 'command',
      });
      return { run, asked };
    }

    it('ask it with all that is known', async () => {
      const { run, asked } = await answered('E_DISK_FULL', 'fail');
      const { summary, task } = await flows.ended(run);
      assert.deepEqual([summary.state, summary.code], ['failed', 'E_DISK_FULL']);
      assert.equal('passed_over' in task('task_done', 'bad'), false);
      const { action, action_id, blocking, msg, context, options, default: fallback } = asked;
      assert.deepEqual(
        { action, action_id, blocking, msg, fallback },
        {
          action: 'step_failed',
          action_id: 'bad.failed',
          blocking: true,
          msg: "'bad' failed: as requested",
          fallback: 'fail',
        },
      );
      const { recommended, ...about } = context as Record<string, unknown>;
      assert.deepEqual(about, {
        task_id: 'bad',
        code: 'E_DISK_FULL',
        message: 'as requested',
        child_run_id: await flows.child(run.runId, 'bad'),
      });
      assert.equal(typeof recommended, 'string');
      assert.deepEqual(
        (options as { id: string; label: string }[]).map(({ id, label }) => [id, label]),
        [
          ['retry', 'Try it again'],
          ['continue', 'Leave it failed, and go on as if it had not'],
          ['fail', 'End the workflow'],
        ],
      );
      assert.deepEqual(flows.project.done(), []);
    });

    it('leave it failed and go on', async () => {
      const { run, asked } = await answered('E_TRANSIENT_NET', 'continue');
      assert.equal(asked.default, 'retry');
      const { summary, task } = await flows.ended(run);
      assert.deepEqual([summary.state, task('task_done', 'bad').passed_over], ['completed', true]);
      assert.deepEqual(flows.project.done(), ['after false']);
    });

    it('try it again by default where it may pass, three times', async () => {
      const run = await flows.start(asking('E_TRANSIENT_NET'));
      const defaults: unknown[] = [];
      for (const id of ['', '.again-2', '.again-3', '.again-4']) {
        const asked = await flows.stored(
          run.runId,
          ({ type, action_id }) => type === 'action_required' && action_id === `bad.failed${id}`,
        );
        defaults.push(asked.default);
        await until(async () => (await flows.services.store.read(run.runId)).state === 'waiting_ai');
        const question = await findOpenQuestion(flows.services.store, run.runId);
        const value = defaults.length < 4 ? 'retry' : 'fail';
        await submitAnswer(flows.services.store, run.runId, question, {
          value,
          by: 'a test',
          source: 'command',
        });
      }
      assert.equal((await flows.ended(run)).summary.code, 'E_TRANSIENT_NET');
      assert.deepEqual(defaults, ['retry', 'retry', 'retry', 'fail']);
    });

    it('try it again, and ask again', async () => {
      const { run } = await answered('E_DISK_FULL', 'retry');
      const again = await flows.stored(run.runId, ({ action_id }) => action_id === 'bad.failed.again-2');
      assert.equal(again.type, 'action_required');
      await run.cancel('enough');
      const { summary, of } = await flows.ended(run);
      assert.equal(summary.state, 'cancelled');
      assert.equal(of('task_submitted').length, 2);
    });
  });

  describe('that are workflows', () => {
    /** A child whose supervisor died, as many times as it is started. */
    async function lost(request: LaunchRequest, writer?: RunWriter) {
      const { store } = flows.services;
      const made =
        writer ??
        (await store.create({
          ...newRun(),
          kind: 'workflow',
          tool: request.tool,
          parent: request.parent ?? null,
        }));
      if (writer !== undefined) {
        enterState(writer, 'queued', 'resume');
        await writer.update({ state: 'queued' });
      }
      await endRun(made, stopped('E_RUNNER_LOST', 'gone'));
      await made.close();
      return made.record.run_id;
    }

    it('go on after the loss of their supervisor, five times', async () => {
      flows.project.workflow({ steps: [{ name: 'in', ...noting('in') }] }, 'inner.json');
      flows.onLaunch = async (request) =>
        request.again === undefined
          ? lost(request)
          : lost(request, await flows.services.store.takeOver(request.again.runId));
      const { summary, of, task } = await flows.run({ steps: [{ name: 'sub', workflow: './inner.json' }] });
      assert.deepEqual([summary.state, summary.code], ['failed', 'E_RUNNER_LOST'], summary.message ?? '');
      const [first, ...others] = flows.launched;
      assert.equal(first!.again, undefined);
      assert.deepEqual(
        others.map(({ again, idempotencyKey }) => [again, idempotencyKey]),
        Array.from({ length: 5 }, () => [
          { runId: task('task_started', 'sub').child_run_id, mode: 'resume', force: false },
          undefined,
        ]),
      );
      assert.deepEqual([of('task_submitted').length, of('task_started').length], [1, 1]);
    });

    it('are resumed by the next try, with the steps that were done', async () => {
      flows.project.workflow(
        {
          steps: [
            { name: 'one', ...noting('one') },
            {
              name: 'two',
              ...noting('two', { fails_with: 'E_DISK_FULL', unless: flows.project.path('repaired-inner') }),
            },
          ],
        },
        'inner.json',
      );
      flows.onLaunch = (request, start) => {
        if (request.again !== undefined) flows.project.write('repaired-inner', '');
        return start(request);
      };
      const flow = await flows.run({
        steps: [
          { name: 'sub', workflow: './inner.json', retry: { max: 1, on: ['E_DISK_FULL'], backoff_s: 0 } },
        ],
      });
      assert.equal(flow.summary.state, 'completed');
      assert.deepEqual(flows.project.done(), ['one', 'two']);
      const [submitted, again] = flow.of('task_submitted');
      const child = String(flow.task('task_started', 'sub').child_run_id);
      assert.equal('child_run_id' in submitted!, false);
      assert.equal(again!.child_run_id, child);
      const second = flow.of('task_started')[1]!;
      const ends = (await flows.events(child)).filter(({ type }) => type === 'runner_end');
      assert.deepEqual([second.child_run_id, second.since_seq], [child, ends[0]!.seq]);
      // The error of the first try is recorded once.
      assert.equal(flow.of('task_error').length, 1);
    });
  });

  describe('that ask', () => {
    it('make the workflow wait until they are answered', async () => {
      const run = await flows.start({ steps: [{ name: 'ask', tool: 'asks' }] });
      await flows.stored(run.runId, ({ type, to }) => type === 'runner_state' && to === 'waiting_ai');
      const question = await findOpenQuestion(flows.services.store, run.runId);
      assert.equal(question.actionId, 'ask:a-1');
      await submitAnswer(flows.services.store, run.runId, question, {
        value: 'fast',
        by: 'me',
        source: 'command',
        reason: 'it is late',
      });
      const { summary, of } = await flows.ended(run);
      assert.equal(summary.state, 'completed');
      const { action_id, action, answer, by, source, reason, child_run_id } = of('action_answered')[0]!;
      assert.deepEqual(
        [action_id, action, answer, by, source, reason, child_run_id],
        [
          'ask:a-1',
          'choose_speed',
          'fast',
          'me',
          'command',
          'it is late',
          await flows.child(run.runId, 'ask'),
        ],
      );
      assert.deepEqual(
        of('runner_state').map(({ to }) => to),
        ['running', 'waiting_ai', 'running', 'completed'],
      );
      assert.equal((of('task_progress')[0]!.child_event as { pct: number }).pct, 100);
    });

    it('make it wait also from inside of a workflow, under the path to the step that asks', async () => {
      flows.project.write('asking.json', JSON.stringify({ steps: [{ name: 'ask', tool: 'asks' }] }));
      const run = await flows.start({ steps: [{ name: 'sub', workflow: './asking.json' }] });
      await flows.stored(run.runId, ({ type, to }) => type === 'runner_state' && to === 'waiting_ai');
      const question = await findOpenQuestion(flows.services.store, run.runId);
      assert.equal(question.actionId, 'sub/ask:a-1');
      const answer = { value: 'fast', by: 'me', source: 'command' as const };
      await submitAnswer(flows.services.store, run.runId, question, answer);
      const { summary, of } = await flows.ended(run);
      assert.equal(summary.state, 'completed');
      assert.deepEqual(
        of('action_answered').map(({ action_id, answer: given }) => [action_id, given]),
        [['sub/ask:a-1', 'fast']],
      );
    });

    it('no longer make it wait when they are cancelled', async () => {
      const run = await flows.start({
        steps: [
          { name: 'ask', tool: 'asks', on_error: 'continue' },
          { name: 'after', ...noting('after', { until: flows.project.path('go-after') }) },
        ],
      });
      await flows.stored(run.runId, ({ type, to }) => type === 'runner_state' && to === 'waiting_ai');
      await flows.services.store.control.requestCancel(await flows.child(run.runId, 'ask'), 'no');
      await flows.project.noted('begin after');
      assert.equal((await flows.services.store.read(run.runId)).state, 'running');
      flows.project.write('go-after', '');
      assert.equal((await flows.ended(run)).summary.state, 'completed');
    });
  });
});
