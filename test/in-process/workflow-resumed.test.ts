import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { NewRun, RunWriter } from '../../src/core/ports/run-store.ts';
import type { Outcome } from '../../src/core/run/outcome.ts';
import { completed, stopped } from '../../src/core/run/outcome.ts';
import { enterState } from '../../src/core/run/write-ending.ts';
import { newRun } from '../contracts/new-run.ts';
import { endRun } from '../support/end-run.ts';
import { type EndedFlow, FlowsInMemory } from '../support/flows-in-memory.ts';
import { endsOf } from '../support/workflow-project.ts';

type Fields = Record<string, unknown>;

// Each test writes the log that an earlier attempt of a workflow left, and resumes the workflow.
describe('a workflow that is resumed', () => {
  let flows: FlowsInMemory;
  const noting = (say: string, more: Record<string, string> = {}) => flows.project.noting(say, more);
  before(async () => {
    flows = await FlowsInMemory.open(['asks']);
  });
  beforeEach(() => flows.project.write('notes', ''));
  afterEach(() => {
    flows.launched.length = 0;
  });
  after(() => flows[Symbol.dispose]());

  /** The run of an earlier attempt, while it runs. */
  async function begun(more: Partial<NewRun> = {}): Promise<RunWriter> {
    const writer = await flows.services.store.create({ ...newRun(), kind: 'workflow', ...more });
    enterState(writer, 'running');
    await writer.update({ state: 'running' });
    await writer.log.flush();
    return writer;
  }

  /** Its supervisor dies after these events. */
  async function lose(writer: RunWriter, events: readonly Fields[]): Promise<string> {
    for (const event of events) writer.log.append(event as Fields & { type: string });
    await writer.log.flush();
    flows.services.store.leases.lose(writer.record.run_id);
    return writer.record.run_id;
  }

  /** The run of a task, which has ended so. */
  async function child(parent: string, outcome: Outcome, more: Partial<NewRun> = {}) {
    const writer = await begun({
      kind: 'tool',
      tool: 'notes_work',
      parent: { run_id: parent, task_id: 'a' },
      ...more,
    });
    const result =
      outcome.state === 'completed' ? { type: 'result', status: 'ok', data: { said: 'kept' } } : null;
    if (result !== null) writer.log.append(result);
    await end(writer, outcome);
    return writer.record.run_id;
  }

  async function end(writer: RunWriter, outcome: Outcome) {
    await endRun(writer, outcome);
    await writer.close();
  }

  const submitted = (task_id: string, more: Fields = {}) => ({ type: 'task_submitted', task_id, ...more });
  const started = (task_id: string, child_run_id: string, more: Fields = {}) => ({
    type: 'task_started',
    task_id,
    child_run_id,
    ...more,
  });
  const done = (task_id: string, status: string, more: Fields = {}) => ({
    type: 'task_done',
    task_id,
    status,
    ...more,
  });

  /** What the resumed attempt adds to the log. */
  async function resumed(
    runId: string,
    content: Fields,
    again: { force?: boolean; from?: string } = {},
  ): Promise<EndedFlow> {
    const before = (await flows.events(runId)).length;
    const flow = await flows.run(content, { again: { runId, mode: 'resume', ...again } });
    const events = flow.events.slice(before);
    const of = (type: string) => events.filter((event) => event.type === type);
    return { ...flow, events, of, task: (type, id) => of(type).find(({ task_id }) => task_id === id)! };
  }

  const a = (more: Fields = {}) => ({ name: 'a', ...noting('a'), ...more });

  it('does not repeat what has ended well, was passed over, or was skipped', async () => {
    const runId = await lose(await begun(), [
      submitted('ok'),
      done('ok', 'ok'),
      submitted('passed'),
      done('passed', 'failed', { code: 'E_DISK_FULL', msg: 'full', passed_over: true }),
      done('skipped', 'skipped'),
      submitted('bad'),
      done('bad', 'failed', { code: 'E_DISK_FULL' }),
    ]);
    const { summary, events, of } = await resumed(runId, {
      inputs: { word: { default: 'no' } },
      steps: [
        { name: 'ok', ...noting('ok') },
        { name: 'passed', ...noting('passed') },
        { name: 'skipped', when: "${inputs.word == 'yes'}", ...noting('skipped') },
        { name: 'bad', needs: ['ok'], ...noting('bad') },
      ],
      outputs: { ok: '${workflow.ok}', code: '${steps.passed.code}', none: '${steps.ok.data}' },
    });
    assert.equal(summary.state, 'completed');
    assert.deepEqual(endsOf(events), ['bad ok']);
    assert.deepEqual(flows.project.done(), ['bad']);
    assert.equal(flows.launched[0]!.idempotencyKey, `${runId}/bad/2`);
    assert.deepEqual(of('result')[0]!.data, { ok: false, code: 'E_DISK_FULL', none: null });
  });

  it('takes the outcome of a child that ended meanwhile', async () => {
    const writer = await begun();
    const one = await child(writer.record.run_id, completed());
    const runId = await lose(writer, [submitted('a'), started('a', one)]);
    const { summary, of, task } = await resumed(runId, {
      steps: [a()],
      outputs: { said: '${steps.a.data.said}' },
    });
    assert.equal(summary.state, 'completed');
    assert.deepEqual(
      [flows.launched.length, of('task_submitted').length, of('task_started').length],
      [0, 0, 0],
    );
    assert.deepEqual([task('task_done', 'a').child_run_id, of('result')[0]!.data], [one, { said: 'kept' }]);
  });

  it('asks again for a child whose start was not recorded, under the same key', async () => {
    const runId = await lose(await begun(), [submitted('a'), submitted('a')]);
    const { summary, of } = await resumed(runId, { steps: [a()] });
    assert.equal(summary.state, 'completed');
    assert.deepEqual(
      [flows.launched.map(({ idempotencyKey }) => idempotencyKey), of('task_submitted').length],
      [[`${runId}/a/2`], 0],
    );
  });

  it('asks again for a child whose run was removed, under the same key', async () => {
    const runId = await lose(await begun(), [submitted('a'), started('a', newRun().run_id)]);
    const { summary, of } = await resumed(runId, { steps: [a()] });
    assert.equal(summary.state, 'completed');
    assert.deepEqual(
      [flows.launched.map(({ idempotencyKey }) => idempotencyKey), of('task_submitted').length],
      [[`${runId}/a/1`], 0],
    );
  });

  it('adopts a child that failed and was resumed by hand, whether it has completed or still runs', async () => {
    for (const isOver of [true, false]) {
      const writer = await begun();
      const flowId = writer.record.run_id;
      const running = await begun({
        kind: 'tool',
        tool: 'notes_work',
        parent: { run_id: flowId, task_id: 'a' },
      });
      const one = running.record.run_id;
      running.log.append({ type: 'error', code: 'E_DISK_FULL', msg: 'first' });
      running.log.append({ type: 'error', code: 'E_DISK_FULL', msg: 'second' });
      await running.log.flush();
      if (isOver) await end(running, completed());
      const [, , second] = await flows.events(one);
      const seq = Number((await flows.events(one)).find(({ msg }) => msg === 'first')!.seq);
      assert.notEqual(second, undefined);
      const runId = await lose(writer, [
        submitted('a'),
        started('a', one),
        { type: 'task_error', task_id: 'a', child_run_id: one, child_event: { type: 'error', seq } },
        done('a', 'failed', { code: 'E_DISK_FULL' }),
      ]);
      const flow = resumed(runId, { steps: [a()] });
      if (!isOver) {
        const isRecorded = async () =>
          (await flows.events(runId)).some(({ child_event }) => (child_event as Fields)?.msg === 'second');
        while (!(await isRecorded())) await new Promise((resolve) => setTimeout(resolve, 5));
        await end(running, completed());
      }
      const { summary, of, task } = await flow;
      assert.equal(summary.state, 'completed');
      assert.deepEqual([flows.launched.length, of('task_submitted').length], [0, 0]);
      const { child_run_id, since_seq } = task('task_started', 'a');
      assert.deepEqual([child_run_id, since_seq], [one, seq]);
      assert.deepEqual(
        of('task_error').map(({ child_event }) => (child_event as Fields).msg),
        ['second'],
      );
    }
  });

  it('does not repeat a tool with unknown effects until it is forced to', async () => {
    const lost = stopped('E_RUNNER_LOST', 'gone');
    const writer = await begun();
    const one = await child(writer.record.run_id, lost, { tool: 'notes_work' });
    const runId = await lose(writer, [
      submitted('a'),
      started('a', one),
      done('a', 'failed', { code: 'E_RUNNER_LOST' }),
    ]);
    const content = { steps: [a({ retry: { max: 1, on: ['retryable'], backoff_s: 0 } })] };
    const { summary, of, task } = await resumed(runId, content);
    const why = `its run ${one} was stopped mid-way (E_RUNNER_LOST), and 'notes_work' is not idempotent, so its effects are unknown`;
    assert.deepEqual([summary.code, summary.message], ['E_OUTCOME_UNKNOWN', `'a' failed: ${why}`]);
    // Not the resume that was just refused.
    const steps = summary.next.map((step) => 'operation' in step && [step.operation, step.input]);
    assert.deepEqual(steps, [
      ['run.logs', { run: one }],
      ['workflow.resume', { run: runId, force: true }],
    ]);
    assert.match(String(summary.hint), /If a repeat is harmless, resume the workflow with --force/);
    const { status, code, msg, child_run_id } = task('task_done', 'a');
    assert.deepEqual([status, code, msg, child_run_id], ['failed', 'E_OUTCOME_UNKNOWN', why, one]);
    assert.deepEqual([of('task_submitted').length, flows.launched.length], [0, 0]);
    const forced = await resumed(runId, content, { force: true });
    assert.deepEqual([forced.summary.state, flows.launched.length], ['completed', 1]);
  });

  it('repeats a tool that was stopped and is idempotent, and one that failed by itself', async () => {
    for (const [outcome, idempotent] of [
      [stopped('E_RUNNER_LOST', 'gone'), true],
      [stopped('E_DISK_FULL', 'full'), false],
    ] as const) {
      flows.launched.length = 0;
      const writer = await begun();
      const one = await child(writer.record.run_id, outcome, { idempotent });
      const runId = await lose(writer, [
        submitted('a'),
        started('a', one),
        done('a', 'failed', { code: outcome.code }),
      ]);
      const { summary } = await resumed(runId, { steps: [a()] });
      assert.deepEqual(
        [summary.state, flows.launched.map(({ idempotencyKey }) => idempotencyKey)],
        ['completed', [`${runId}/a/2`]],
      );
    }
  });

  it('tries an open task with an unknown outcome again only for a rule that names the code', async () => {
    for (const [on, state] of [
      ['retryable', 'failed'],
      ['E_RUNNER_LOST', 'completed'],
    ] as const) {
      const writer = await begun();
      const one = await child(writer.record.run_id, { ...stopped('E_RUNNER_LOST', 'gone'), retryable: true });
      const runId = await lose(writer, [submitted('a'), started('a', one)]);
      const { summary } = await resumed(runId, { steps: [a({ retry: { max: 1, on: [on], backoff_s: 0 } })] });
      assert.equal(summary.state, state, on);
    }
  });

  it('ends the children that it did not come to', async () => {
    const writer = await begun();
    const run_id = writer.record.run_id;
    const stray = await flows.startOf({
      kind: 'tool',
      tool: 'notes_work',
      args: [
        '--say',
        'stray',
        '--notes',
        flows.project.path('notes'),
        '--until',
        flows.project.path('never'),
      ],
      parent: { run_id, task_id: 'b' },
    });
    await flows.project.noted('begin stray');
    const runId = await lose(writer, [submitted('b'), started('b', stray.runId)]);
    const { summary } = await resumed(runId, {
      steps: [
        a({ tool: 'notes_work', args: noting('a', { fails_with: 'E_DISK_FULL' }).args }),
        { name: 'b', ...noting('b') },
      ],
    });
    assert.equal(summary.state, 'failed');
    const { state, message } = await flows.services.store.read(stray.runId);
    assert.deepEqual([state, message], ['cancelled', 'its workflow has ended']);
  });

  it('runs a step again with all that need it, and the final steps', async () => {
    const first = await flows.run({
      steps: [
        { name: 'a', needs: [], ...noting('a') },
        { name: 'b', needs: ['a'], ...noting('b') },
        { name: 'c', needs: ['b'], ...noting('c') },
        { name: 'd', needs: ['a'], ...noting('d') },
      ],
      finally: [{ name: 'last', ...noting('last') }],
    });
    flows.project.write('notes', '');
    const path = flows.project.path('flow.json');
    const run = await flows.start(path, { again: { runId: first.runId, mode: 'resume', from: 'b' } });
    const { summary, of } = await flows.ended(run);
    assert.equal(summary.state, 'completed');
    assert.deepEqual(flows.project.done(), ['b', 'c', 'last']);
    const again = of('runner_state').find(({ steps_again }) => steps_again !== undefined);
    assert.deepEqual(again?.steps_again, ['b', 'c', 'last']);
    await assert.rejects(flows.start(path, { again: { runId: first.runId, mode: 'resume', from: 'bb' } }), {
      code: 'E_USAGE',
      message: `${path} has no step 'bb'`,
      hint: "Did you mean 'b'?",
    });
  });

  it('leads to the step whose result is gone, whatever reads it, and takes that step', async () => {
    const one = (more: Fields) => ({ steps: [a(), { name: 'b', ...noting('b') }], ...more });
    const reading = '${steps.a.data.said}';
    for (const [content, before, step] of [
      [one({ outputs: { said: reading } }), [done('b', 'ok')], 'a'],
      [one({ steps: [a(), { name: 'b', when: "${steps.a.data.said == 'kept'}", ...noting('b') }] }), [], 'a'],
      [one({ finally: [a({ name: 'x' }), { name: 'y', ...noting('${steps.x.data.said}') }] }), [], 'x'],
      [one({ steps: [a(), { name: 'b', foreach: ['${steps.a.data}'], ...noting('b') }] }), [], 'a'],
    ] as const) {
      flows.project.write('notes', '');
      const writer = await begun();
      const gone = await child(writer.record.run_id, completed());
      await flows.services.store.remove(gone);
      const ended = [submitted(step), started(step, gone), done(step, 'ok')];
      const first = step === 'a' ? [] : [done('a', 'ok'), done('b', 'ok')];
      const runId = await lose(writer, [...first, ...ended, ...before]);
      const { summary } = await resumed(runId, content);
      const [next] = summary.next.map((each) => 'operation' in each && [each.operation, each.input]);
      assert.deepEqual(
        [summary.code, next],
        ['E_RUN_NOT_FOUND', ['workflow.resume', { run: runId, from: step }]],
        JSON.stringify(content),
      );
      assert.match(String(summary.message), new RegExp(`the result of step '${step}' cannot be read`));
      assert.match(String(summary.hint), new RegExp(`^Resume the workflow from step '${step}'`));
      assert.deepEqual(flows.project.done(), []);
      const { summary: again } = await resumed(runId, content, { from: step });
      assert.equal(again.state, 'completed', String(again.message));
    }
  });

  it('does not lead to the logs of a run that was removed', async () => {
    for (const isRemoved of [true, false]) {
      const writer = await begun();
      const one = await child(writer.record.run_id, stopped('E_DISK_FULL', 'full'));
      if (isRemoved) await flows.services.store.remove(one);
      const failed = done('a', 'failed', { code: 'E_DISK_FULL' });
      const runId = await lose(writer, [submitted('a'), started('a', one), failed]);
      const { summary } = await resumed(runId, {
        inputs: { list: { default: 'none' } },
        steps: [a({ foreach: '${inputs.list}' })],
      });
      const logs = summary.next.find((each) => 'operation' in each && each.operation === 'run.logs')!;
      assert.deepEqual('input' in logs && logs.input, { run: isRemoved ? runId : one });
    }
  });

  it('is refused when its file has changed, and says what to do', async () => {
    const flow = (say: string) => ({ steps: [{ name: 'a', ...noting(say, { fails_with: 'E_DISK_FULL' }) }] });
    const { runId } = await flows.run(flow('before'));
    const was = (await flows.services.store.read(runId)).tool_version;
    const path = flows.project.workflow(flow('after'));
    const again = { runId, mode: 'resume' } as const;
    await assert.rejects(flows.start(path, { again }), (error: Fields) => {
      assert.equal(error.message, `${path} has changed since run ${runId} started`);
      assert.match(String(error.hint), /^Restore the file/);
      const { was: before, is } = error.details as Fields;
      assert.equal(before, was);
      assert.notEqual(is, was);
      assert.deepEqual(
        (error.next as Fields[]).map(({ operation, input }) => [operation, input]),
        [
          ['workflow.run', { workflow: path, args: [] }],
          ['workflow.resume', { run: runId, force: true }],
        ],
      );
      return true;
    });
    const forced = await flows.run(path, { again: { ...again, force: true } });
    assert.equal(forced.summary.state, 'failed');
    assert.notEqual((await flows.services.store.read(runId)).tool_version, was);
  });

  describe('with a decision', () => {
    const deciding = (more: Fields = {}) => ({
      steps: [
        {
          name: 'choose',
          type: 'ai_decision',
          decision_type: 'pick',
          instruction: 'Which?',
          context: { n: 1 },
          options: [{ id: 'x' }, { id: 'y' }],
          ...more,
        },
      ],
      outputs: { way: '${steps.choose.answer}' },
    });

    it('asks it again under the same id, and not once it was answered', async () => {
      const content = deciding();
      const first = await flows.start(content);
      const asked = await flows.stored(first.runId, ({ type }) => type === 'action_required');
      const { action, action_id, blocking, msg, context, options, timeout_s, default: fallback } = asked;
      assert.deepEqual(
        { action, action_id, blocking, msg, context, options, timeout_s, fallback },
        {
          action: 'pick',
          action_id: 'choose',
          blocking: true,
          msg: 'Which?',
          context: { n: 1 },
          options: [{ id: 'x' }, { id: 'y' }],
          timeout_s: undefined,
          fallback: undefined,
        },
      );
      await first.cancel('later');
      const cancelled = await flows.ended(first);
      assert.deepEqual(
        [cancelled.summary.state, cancelled.task('task_done', 'choose').status],
        ['cancelled', 'cancelled'],
      );
      assert.deepEqual(cancelled.task('task_submitted', 'choose').payload, {
        step: 'choose',
        type: 'ai_decision',
        action_id: 'choose',
      });
      const again = { runId: first.runId, mode: 'resume' } as const;
      const answers = [{ action: 'pick', answer: 'y', by: 'me', source: 'beforehand' as const }];
      const second = await flows.run(content, { again, answers });
      assert.deepEqual(second.of('result')[0]!.data, { way: 'y' });
      const ids = second.of('action_required').map((event) => event.action_id);
      assert.deepEqual(ids, ['choose', 'choose.again-2']);
      assert.equal(second.of('task_done').at(-1)!.action_id, 'choose.again-2');
    });

    it('continues one that was open, without a second submission', async () => {
      const runId = await lose(await begun(), [submitted('choose')]);
      const answers = [{ action: 'pick', answer: 'x', by: 'me', source: 'beforehand' as const }];
      const content = deciding();
      const path = flows.project.workflow(content);
      const flow = await flows.run(path, { again: { runId, mode: 'resume' }, answers });
      assert.deepEqual(
        [flow.summary.state, flow.of('task_submitted').length, flow.of('action_required')[0]!.action_id],
        ['completed', 1, 'choose'],
      );
    });

    it('fails without an answer in time, and takes a default that there is', async () => {
      const late = await flows.run(deciding({ timeout_s: 0.2 }));
      assert.deepEqual([late.summary.state, late.summary.code], ['failed', 'E_ACTION_TIMEOUT']);
      assert.equal(late.task('task_done', 'choose').msg, "'choose' was not answered within 0.2 s");
      const fallback = await flows.run(deciding({ timeout_s: 0.2, default: 'x' }));
      assert.deepEqual(fallback.of('result')[0]!.data, { way: 'x' });
    });

    it('refuses an answer beforehand that it could never accept', async () => {
      const answers = [{ action: 'pick', answer: 'z', by: 'me', source: 'beforehand' as const }];
      await assert.rejects(flows.start(deciding(), { answers }), { code: 'E_BAD_ANSWER' });
    });

    it('fails where the question has no value', async () => {
      const { summary, of, task } = await flows.run({
        ...deciding({ instruction: '${inputs.word.missing}' }),
        inputs: { word: { type: 'json', default: {} } },
      });
      assert.deepEqual([summary.state, summary.code], ['failed', 'E_WORKFLOW_INVALID']);
      assert.equal(task('task_done', 'choose').status, 'failed');
      assert.deepEqual([of('task_submitted').length, of('action_required').length], [0, 0]);
    });
  });
});
