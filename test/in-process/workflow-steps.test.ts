import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, before, beforeEach, describe, it } from 'node:test';
import { FlowsInMemory } from '../support/flows-in-memory.ts';
import { reachedInTime } from '../support/in-time.ts';
import { until } from '../support/project.ts';
import { endsOf } from '../support/workflow-project.ts';

/** A condition that never holds: its step costs no process. */
const NEVER = '${1 == 2}';

describe('the steps of a workflow', () => {
  let flows: FlowsInMemory;
  const noting = (say: string, more: Record<string, string> = {}) => flows.project.noting(say, more);
  const failing = (say: string, code = 'E_DISK_FULL') => noting(say, { fails_with: code });
  before(async () => {
    flows = await FlowsInMemory.open();
  });
  beforeEach(() => flows.project.write('notes', ''));
  after(() => flows[Symbol.dispose]());

  it('begin when all that they need has ended, and not earlier', async () => {
    const run = await flows.start({
      steps: [
        { name: 'a', ...noting('a') },
        { name: 'b', needs: ['a'], ...noting('b') },
        { name: 'c', needs: ['a', 'a'], ...noting('c', { until: flows.project.path('go-c') }) },
        { name: 'd', needs: ['b', 'c'], ...noting('d') },
        { name: 'e', ...noting('e') },
      ],
    });
    await flows.project.noted('b');
    await flows.project.noted('begin c');
    assert.deepEqual(flows.project.done(), ['a', 'b']);
    flows.project.write('go-c', '');
    const { summary, events } = await flows.ended(run);
    assert.equal(summary.state, 'completed');
    const [first, ...others] = endsOf(events);
    // The process of b may still exit when c starts.
    const beside = others.splice(0, 2).sort();
    assert.deepEqual([first, ...beside, ...others], ['a ok', 'b ok', 'c ok', 'd ok', 'e ok']);
  });

  it('are counted in the progress: at each per cent once, without the final steps', async () => {
    const steps = Array.from({ length: 250 }, (_, number) => ({
      name: `s${number}`,
      when: NEVER,
      tool: 'notes_work',
    }));
    const { of, summary } = await flows.run({ steps, finally: [{ name: 'last', ...noting('last') }] });
    assert.equal(summary.state, 'completed');
    assert.deepEqual(
      of('progress').map(({ pct }) => pct),
      Array.from({ length: 100 }, (_, index) => index + 1),
    );
    assert.equal(of('progress')[0]!.msg, 'step 3/250: s2');
    assert.equal(of('progress').at(-1)!.msg, 'step 250/250: s249');
    assert.equal(of('task_done').filter(({ status }) => status === 'skipped').length, 250);
  });

  it('are skipped with the reason', async () => {
    const { task, of } = await flows.run({
      inputs: { never: { default: 'no' } },
      steps: [
        { name: 'never', when: "${inputs.never == 'yes'}", ...noting('never') },
        { name: 'after', ...noting('after') },
        { name: 'anyway', needs: ['never', 'after'], when: "${inputs.never == 'no'}", ...noting('anyway') },
        { name: 'reads', needs: ['never', 'anyway'], when: '${!steps.never.ok}', ...noting('reads') },
        { name: 'each', needs: ['never'], foreach: ['x'], ...noting('${item}') },
        { name: 'goes on', needs: ['anyway'], ...noting('goes on') },
      ],
      outputs: {
        anyway: '${steps.anyway.state}',
        never: '${steps.never.state}',
        code: '${steps.never.code}',
        run: '${steps.never.run_id}',
        has: '${has(steps.never.data) || has(steps.each.count)}',
      },
    });
    assert.equal(task('task_done', 'never').msg, 'its condition does not hold');
    assert.equal(task('task_done', 'after').msg, "'never' was skipped");
    assert.equal(task('task_done', 'reads').msg, "'never' was skipped");
    assert.deepEqual(flows.project.done(), ['anyway', 'goes on']);
    const [result] = of('result');
    assert.deepEqual(result!.data, {
      anyway: 'completed',
      never: 'skipped',
      code: null,
      run: null,
      has: false,
    });
    assert.deepEqual(
      [result!.status, result!.steps, 'failed' in result!],
      ['ok', { completed: 2, failed: 0, skipped: 4 }, false],
    );
  });

  it('fail where a condition has no value, or one that is neither true nor false', async () => {
    for (const [when, said] of [
      ['${inputs.word}', `when of 'a' must be true or false, got "yes"`],
      ['${inputs.word.letters == 2}', /letters|no such|overload/],
    ] as const) {
      const { summary, of, task } = await flows.run({
        inputs: { word: { type: 'json', default: 'yes' } },
        steps: [
          { name: 'a', when, ...noting('a') },
          { name: 'b', ...noting('b') },
        ],
      });
      const { status, code, msg } = task('task_done', 'a');
      assert.deepEqual(
        [summary.state, summary.code, status, code],
        ['failed', 'E_WORKFLOW_INVALID', 'failed', 'E_WORKFLOW_INVALID'],
      );
      if (typeof said === 'string') assert.equal(msg, said);
      else assert.match(String(msg), said);
      assert.equal(of('error')[0]!.msg, `'a' failed: ${msg}`);
      assert.deepEqual(of('error')[0]!.failed, [
        { task_id: 'a', run_id: null, code: 'E_WORKFLOW_INVALID', message: msg },
      ]);
    }
    assert.deepEqual(flows.project.notes(), []);
  });

  it('fail where their list is none, or too long', async () => {
    const flow = (list: unknown, more: Record<string, unknown> = {}) => ({
      inputs: { list: { type: 'json', default: list } },
      steps: [
        { name: 'each', foreach: '${inputs.list}', max_items: 2, ...more, ...noting('item ${item}') },
        { name: 'after', ...noting('after ${workflow.ok} ${steps.each.ok} ${steps.each.code}') },
      ],
    });
    const none = await flows.run(flow('text'));
    assert.deepEqual([none.summary.state, none.summary.code], ['failed', 'E_WORKFLOW_INVALID']);
    assert.equal(none.task('task_done', 'each').msg, "foreach of 'each' must be a list, got string");
    assert.equal('passed_over' in none.task('task_done', 'each'), false);
    const long = await flows.run(flow([1, 2, 3], { on_error: 'continue' }));
    const { msg, passed_over, code } = long.task('task_done', 'each');
    assert.deepEqual(
      [msg, passed_over, code],
      ["foreach of 'each' has 3 items; max_items allows 2", true, 'E_WORKFLOW_INVALID'],
    );
    assert.equal(long.summary.state, 'completed');
    assert.deepEqual(flows.project.done(), ['after false false E_WORKFLOW_INVALID']);
    assert.equal((await flows.run(flow([1, 2]))).summary.state, 'completed');
    const { of, summary } = await flows.run({
      ...flow([]),
      outputs: { all: '${steps.each.data}', count: '${steps.each.count}' },
    });
    assert.deepEqual([summary.state, of('result')[0]!.data], ['completed', { all: [], count: 0 }]);
  });

  it('give what they ended with to later expressions', async () => {
    const { of, runId } = await flows.run({
      steps: [
        { name: 'one', ...noting('one') },
        { name: 'each', foreach: ['x', 'y'], on_error: 'continue', ...noting('${item}') },
        {
          name: 'both',
          type: 'parallel',
          on_error: 'continue',
          tasks: [{ name: 'p', ...noting('p') }, failing('q'), { ...failing('r', 'E_SCHEMA_MISMATCH') }],
        },
      ],
      outputs: {
        workflow: '${workflow.run_id}',
        ok: '${workflow.ok}',
        one: '${[steps.one.state, steps.one.ok, steps.one.code, steps.one.data.said]}',
        run: '${steps.one.run_id}',
        none: '${steps.both.run_id}',
        each: '${[steps.each.count, steps.each.failed, steps.each.ok]}',
        both: '${[steps.both.count, steps.both.failed, steps.both.ok, steps.both.state, steps.both.code]}',
        list: '${steps.both.data}',
        file: "${steps.one.artifacts['said.txt'].endsWith('/said.txt')}",
      },
    });
    const [result] = of('result');
    assert.deepEqual(result!.data, {
      workflow: runId,
      ok: false,
      one: ['completed', true, null, 'one'],
      run: await flows.child(runId, 'one'),
      none: null,
      each: [2, 0, true],
      both: [3, 2, false, 'failed', 'E_DISK_FULL'],
      list: [{ said: 'p' }, null, null],
      file: true,
    });
    assert.deepEqual(
      [result!.status, result!.steps, result!.failed_count],
      ['partial', { completed: 2, failed: 1, skipped: 0 }, 2],
    );
    assert.deepEqual(
      (result!.failed as { task_id: string; run_id: string; code: string; message: string }[]).map(
        ({ task_id, code, message }) => [task_id, code, message],
      ),
      [
        ['both.1', 'E_DISK_FULL', 'as requested'],
        ['both.2', 'E_SCHEMA_MISMATCH', 'as requested'],
      ],
    );
  });

  it('name the file of an output by its input as well', async () => {
    flows.project.write(
      'tools/writes/tool.yaml',
      'name: writes\nversion: 1.0.0\nadapter: plain\ninputs: [{ name: out, type: path, access: write }]\n',
    );
    flows.project.write('tools/writes/cli.sh', '#!/bin/sh\necho text >"$2"\n', 0o755);
    const { of, summary } = await flows.run({
      steps: [{ name: 'a', tool: 'writes', args: { out: 'new.txt' } }],
      outputs: {
        same: "${steps.a.artifacts.out == steps.a.artifacts['new.txt']}",
        file: '${steps.a.artifacts.out}',
      },
    });
    assert.deepEqual(
      [summary.state, of('result')[0]?.data],
      ['completed', { same: true, file: flows.project.path('new.txt') }],
    );
  });

  it('run as many items or tasks at once as their own limit says, else that of the workflow', async () => {
    const go = flows.project.path('go-on');
    const held = (say: string) => noting(say, { until: go });
    const begun = () => flows.project.notes().filter((line) => line.startsWith('begin ')).length;
    for (const [limits, count] of [
      [{ own: 2, whole: 3 }, 2],
      [{ whole: 3 }, 3],
    ] as const)
      for (const step of [
        { foreach: [1, 2, 3, 4], ...held('item ${item}') },
        { type: 'parallel', tasks: [1, 2, 3, 4].map((n) => held(`${n}`)) },
      ]) {
        flows.project.write('notes', '');
        const own = 'own' in limits ? { max_concurrency: limits.own } : {};
        const run = await flows.start({
          max_concurrency: limits.whole,
          steps: [{ name: 's', ...own, ...step }],
        });
        await until(() => begun() === count);
        const submitted = (await flows.events(run.runId)).filter(({ type }) => type === 'task_submitted');
        assert.equal(submitted.length, count);
        flows.project.write('go-on', '');
        assert.equal((await flows.ended(run)).summary.state, 'completed');
        assert.equal(flows.project.done().length, 4);
        rmSync(go);
      }
  });

  it('hand their rules down to tasks that set none', async () => {
    const { of, summary } = await flows.run({
      steps: [
        {
          name: 'both',
          type: 'parallel',
          on_error: 'continue',
          retry: { max: 1, on: ['E_DISK_FULL'], backoff_s: 0 },
          timeout_s: 77,
          max_concurrency: 1,
          tasks: [
            { name: 'heir', ...failing('heir') },
            {
              name: 'own',
              retry: { max: 2, on: ['E_DISK_FULL'], backoff_s: 0 },
              timeout_s: 55,
              ...failing('own'),
            },
          ],
        },
      ],
    });
    assert.equal(summary.state, 'completed');
    const tries = (id: string) => of('task_submitted').filter(({ task_id }) => task_id === id).length;
    assert.deepEqual([tries('both.heir'), tries('both.own')], [2, 3]);
    const timeouts = flows.launched.slice(-5).map(({ timeoutS }) => timeoutS);
    assert.deepEqual(timeouts, [77, 77, 55, 55, 55]);
  });

  it('end the workflow with the first failure, and name the others', async () => {
    const bad = (name: string) => ({ name, foreach: '${inputs.word}', ...noting(name) });
    const passed = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const { summary, of } = await flows.run({
      inputs: { word: { default: 'x' } },
      steps: [
        ...passed.map((name) => ({ ...bad(name), on_error: 'continue' })),
        bad('fatal'),
        { name: 'never', ...noting('never') },
      ],
    });
    const why = "foreach of 'fatal' must be a list, got string";
    const msg = `'fatal' failed: ${why} (and 7 more: a, b, c, d, e)`;
    assert.deepEqual([summary.state, summary.message], ['failed', msg]);
    assert.equal(summary.hint, 'Write an expression whose value is a list. Then resume the workflow.');
    const [error] = of('error');
    assert.deepEqual([error!.msg, error!.retryable, error!.hint], [msg, false, summary.hint]);
    assert.equal((error!.failed as unknown[]).length, 8);
    assert.deepEqual(flows.project.notes(), []);
    assert.equal(of('runner_error').length, 0);
  });

  it('are named in the result when they failed, the first hundred of them', async () => {
    const steps = Array.from({ length: 101 }, (_, number) => ({
      name: `s${number}`,
      foreach: '${inputs.word}',
      on_error: 'continue',
      ...noting('never'),
    }));
    const { of } = await flows.run({ inputs: { word: { default: 'x' } }, steps });
    const [result] = of('result');
    assert.deepEqual([(result!.failed as unknown[]).length, result!.failed_count], [100, 101]);
  });

  it('that are final know whether all went well, run in order, and fail the workflow themselves', async () => {
    const { summary, of } = await flows.run({
      steps: [{ name: 'a', ...noting('a') }],
      finally: [
        { name: 'x', ...noting('x ${workflow.ok} ${steps.a.ok}') },
        { name: 'y', ...failing('y') },
        { name: 'z', ...noting('z') },
      ],
    });
    assert.deepEqual([summary.state, summary.code], ['failed', 'E_DISK_FULL']);
    assert.equal(of('error')[0]!.msg, "'y' failed: as requested");
    assert.deepEqual(flows.project.done(), ['a', 'x true true', 'z']);
  });

  it('that are final run also after one that was skipped, and read the steps that the run did not reach', async () => {
    const alert = { when: '${!workflow.ok}', ...noting('alert') };
    const finals = [
      { name: 'alert', ...alert },
      { name: 'unlock', ...noting('unlock') },
    ];
    await flows.run({ steps: [{ name: 'a', ...noting('a') }], finally: finals });
    assert.deepEqual(flows.project.done(), ['a', 'unlock']);
    flows.project.write('notes', '');
    await flows.run({
      steps: [
        { name: 'a', ...failing('a') },
        { name: 'b', ...noting('b') },
      ],
      finally: [
        { name: 'x', ...noting('${steps.b.state} ${steps.b.ok} ${has(steps.b.data)}') },
        ...finals,
        { name: 'last', ...failing('last') },
      ],
    });
    assert.deepEqual(flows.project.done(), ['alert', 'skipped false false', 'unlock']);
  });

  it('fail the workflow when an output has no value', async () => {
    const { summary, of } = await flows.run({
      inputs: { word: { type: 'json', default: {} } },
      steps: [{ name: 'a', ...noting('a') }],
      outputs: { missing: '${inputs.word.missing}' },
    });
    assert.deepEqual([summary.state, summary.code, of('result').length], ['failed', 'E_WORKFLOW_INVALID', 0]);
    assert.equal(of('runner_error').length, 1);
  });

  it('are ended at the deadline of the workflow, also the final ones that hang', async () => {
    const { runId, task } = await reachedInTime(async (limitS) => {
      const flow = await flows.run({
        timeout_s: limitS,
        steps: [
          { name: 'a', ...noting('a', { until: flows.project.path('never') }) },
          { name: 'b', ...noting('b') },
        ],
        finally: [{ name: 'last', ...noting('last ${workflow.ok}') }],
      });
      const { state, code, message } = flow.summary;
      assert.deepEqual(
        [state, code, message],
        ['failed', 'E_DEADLINE', `the workflow timed out after ${limitS} s`],
      );
      const hasBegun = flow.of('task_started').some(({ task_id }) => task_id === 'a');
      if (hasBegun && flows.project.done().length === 1) return flow;
      rmSync(flows.project.path('notes'), { force: true });
      return undefined;
    });
    const { status, code } = task('task_done', 'a');
    assert.deepEqual([status, code], ['cancelled', 'E_DEADLINE']);
    const child = await flows.services.store.read(await flows.child(runId, 'a'));
    assert.equal(child.message, 'the deadline of the workflow');
    assert.deepEqual(flows.project.done(), ['last false']);
  });

  it('are cancelled with the reason of the workflow, and a forced cancel ends its final steps', async () => {
    const never = flows.project.path('never');
    const run = await flows.start({
      steps: [
        { name: 'a', ...noting('a', { until: never }) },
        { name: 'b', ...noting('b') },
      ],
      finally: [{ name: 'last', ...noting('last', { until: never }) }],
    });
    await flows.project.noted('begin a');
    await run.cancel('enough');
    await flows.project.noted('begin last');
    await run.cancel('now', { force: true });
    const { summary, task } = await flows.ended(run);
    assert.deepEqual([summary.state, summary.message], ['cancelled', 'enough']);
    const { status, msg, code } = task('task_done', 'a');
    const child = await flows.child(run.runId, 'a');
    assert.deepEqual([status, code, msg], ['cancelled', undefined, `run ${child} was cancelled: enough`]);
    const last = await flows.services.store.read(await flows.child(run.runId, 'last'));
    assert.deepEqual([last.state, last.message], ['cancelled', 'the workflow was cancelled by force']);
    assert.ok(!flows.project.notes().includes('begin b'));
  });

  it('that wait for a slot, or between two tries, do not begin after a cancel', async () => {
    const never = flows.project.path('never');
    const run = await flows.start({
      max_concurrency: 1,
      steps: [
        {
          name: 'retried',
          needs: [],
          ...failing('retried'),
          retry: { max: 1, on: ['E_DISK_FULL'], backoff_s: 300 },
        },
        { name: 'a', needs: [], ...noting('a', { until: never }) },
        { name: 'b', needs: [], ...noting('b') },
      ],
    });
    await flows.project.noted('begin a');
    await run.cancel('enough');
    const { summary, of } = await flows.ended(run);
    assert.equal(summary.state, 'cancelled');
    assert.deepEqual(
      of('task_submitted').map(({ task_id }) => task_id),
      ['retried', 'a'],
    );
    const ends = of('task_done').map(({ task_id, status }) => `${task_id} ${status}`);
    assert.deepEqual(ends.sort(), ['a cancelled', 'retried failed']);
  });
});
