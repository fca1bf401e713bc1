import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { after, afterEach, before, describe, it } from 'node:test';
import type { KeyedCall, NewRun, RunWriter } from '../../src/core/ports/run-store.ts';
import type { Outcome } from '../../src/core/run/outcome.ts';
import { completed, stopped } from '../../src/core/run/outcome.ts';
import { keyedCall } from '../../src/core/run/start-run.ts';
import { enterState } from '../../src/core/run/write-ending.ts';
import { AcorError } from '../../src/protocol/acor-error.ts';
import { newRun } from '../contracts/new-run.ts';
import { endRun } from '../support/end-run.ts';
import { FlowsInMemory } from '../support/flows-in-memory.ts';
import { reachedInTime } from '../support/in-time.ts';
import { until } from '../support/project.ts';

const PLAIN = 'version: 1.0.0\nadapter: plain\n';
const READER = `${PLAIN}stdin: records\n`;

// Real tools, whose runs and pipes are supervised in this process.
describe('a pipe', () => {
  let flows: FlowsInMemory;
  before(async () => {
    flows = await FlowsInMemory.open();
    const tools: Record<string, [manifest: string, script: string]> = {
      counts: [`${PLAIN}inputs: [{ name: n, type: string, positional: true }]\n`, 'seq "$1"\n'],
      maps: [`${READER}`, `sed 's/.*"line":"\\([0-9]*\\)".*/{"n":\\1}/'\n`],
      records: [
        'version: 1.0.0\nstdin: records\n',
        `sed 's/.*"line":"\\([0-9]*\\)".*/{"type":"log","level":"info","msg":"r","data":{"n":\\1},"record":{"n":\\1}}/'; echo '{"type":"result","status":"ok"}'\n`,
      ],
      first: [READER, 'head -n1\n'],
      fails: [READER, 'head -n1 >/dev/null; echo "broken" >&2; exit 30\n'],
      waits: [READER, 'until [ -e "$TMPDIR/go" ]; do sleep 0.05; done; wc -l\n'],
      limited: [
        'version: 1.0.0\nstdin: records\n',
        `echo '{"type":"error","code":"E_RATE_LIMIT","msg":"enough","retryable":true}'; exit 20\n`,
      ],
      holds: [READER, 'sleep 600\n'],
      claims: [
        'version: 1.0.0\nstdin: records\n',
        `echo '{"type":"task_action_required","task_id":"x","child_run_id":"'"$RUN_ID"'","child_event":{"type":"action_required","action":"x","action_id":"a-1","blocking":true}}'; cat >/dev/null; echo '{"type":"result","status":"ok"}'\n`,
      ],
      whole: [`${READER}output: json\n`, 'wc -l\n'],
      slow: [`${PLAIN}timeout_s: 77\n`, 'echo 1\n'],
      brief: [`${PLAIN}timeout_s: 0.5\n`, 'echo 1\n'],
      briefer: [`${READER}timeout_s: 0.4\n`, 'cat\n'],
      hides: [`${PLAIN}inputs: [{ name: key, secret: true, type: string }]\n`, 'echo 1\n'],
      once: [`${READER}idempotent: false\n`, 'wc -l\n'],
      sure: [`${READER}idempotent: true\n`, 'wc -l\n'],
    };
    for (const [name, [manifest, script]] of Object.entries(tools)) {
      flows.project.write(`tools/${name}/tool.yaml`, `name: ${name}\n${manifest}`);
      flows.project.write(`tools/${name}/cli.sh`, `#!/bin/bash\n${script}`, 0o755);
    }
  });
  afterEach(() => {
    flows.launched.length = 0;
    flows.onLaunch = (request, start) => start(request);
    rmSync(flows.project.path('go'), { force: true });
  });
  after(() => flows[Symbol.dispose]());

  const env = () => ({ ...flows.project.environment(), TMPDIR: flows.project.root });
  const start = (stages: readonly string[], more: object = {}) =>
    flows.startOf({ kind: 'pipe', tool: 'pipe:x', args: [...stages], env: env(), ...more });
  const run = async (stages: readonly string[], more: object = {}) => flows.ended(await start(stages, more));

  it('requests its stages in order, each with the run that it reads', async () => {
    const answers = [{ action: 'x', answer: 1, by: 'me', source: 'beforehand' as const }];
    flows.project.write('go', '');
    const { runId, summary, task, of } = await run(['counts 3', 'maps', 'waits'], {
      answers,
      caller: 'an agent',
    });
    assert.equal(summary.state, 'completed');
    const { trace_id, span_id } = await flows.services.store.read(runId);
    const ids = ['1.counts', '2.maps', '3.waits'];
    const runs = ids.map((id) => String(task('task_started', id).child_run_id));
    for (const [index, { env: given, ...request }] of flows.launched.entries()) {
      assert.equal(given.TRACEPARENT, `00-${trace_id}-${span_id}-01`);
      assert.deepEqual(request, {
        kind: 'tool',
        tool: ids[index]!.slice(2),
        args: index === 0 ? ['3'] : [],
        cwd: flows.project.root,
        parent: { run_id: runId, task_id: ids[index] },
        idempotencyKey: `${runId}/${ids[index]}/1`,
        answers,
        retries: 0,
        caller: 'an agent',
        ...(index > 0 && { reads: { run_id: runs[index - 1], form: 'lines' } }),
        ...(index < 2 && { isRead: true }),
      });
    }
    assert.deepEqual(task('task_submitted', '1.counts').payload, {
      command: 'counts 3',
      key: `${runId}/1.counts/1`,
    });
    for (const [index, id] of ids.entries()) {
      const { status, child_run_id, child_rc, events_count, code, msg } = task('task_done', id);
      assert.deepEqual(
        [status, child_run_id, child_rc, code, msg],
        ['ok', runs[index], 0, undefined, undefined],
      );
      assert.equal(events_count, (await flows.events(runs[index]!)).length);
    }
    const [result] = of('result');
    assert.deepEqual(
      result!.stages,
      ids.map((task_id, index) => ({ task_id, run_id: runs[index] })),
    );
    assert.deepEqual([result!.status, result!.data, 'records' in result!], ['ok', { output: '3' }, false]);
    const begun = of('runner_start')[0]!;
    assert.deepEqual([begun.tool, begun.timeout_s], ['pipe:counts|maps|waits', 1800]);
  });

  it('asks nothing for a task that only a stage knows', async () => {
    const { summary, of } = await run(['counts 1', 'claims']);
    assert.equal(summary.state, 'completed');
    assert.deepEqual(of('task_action_required'), []);
  });

  it('has as much time as its longest stage, or as the caller says', async () => {
    const timeout = async (stages: readonly string[], more = {}) =>
      (await run(stages, more)).of('runner_start')[0]!.timeout_s;
    assert.equal(await timeout(['slow', 'first']), 1800);
    assert.equal(await timeout(['slow', 'first'], { timeoutS: 55 }), 55);
    assert.equal(await timeout(['brief', 'briefer']), 0.5);
  });

  it('answers with the last thousand records of its last stage', async () => {
    const records = async (count: number) =>
      (await run([`counts ${count}`, 'records'])).of('result')[0]!.records as { n: number }[];
    assert.deepEqual(await records(3), [{ n: 1 }, { n: 2 }, { n: 3 }]);
    const many = await records(1002);
    assert.deepEqual([many.length, many[0], many.at(-1)], [1000, { n: 3 }, { n: 1002 }]);
  });

  it('refuses what cannot be a stage, and starts nothing', async () => {
    const refused = (stages: readonly string[], code: string, message: RegExp) =>
      assert.rejects(run(stages), { code, message });
    await refused(
      ['counts 3', 'counts 3'],
      'E_USAGE',
      /^stage 2\.counts of the pipe does not read records: 'counts' does not declare it$/,
    );
    await refused(['counts 3', 'nothing'], 'E_TOOL_NOT_FOUND', /^stage 2\.nothing of the pipe: /);
    await refused(['hides --key abcdefgh', 'first'], 'E_USAGE', /^an argument of the pipe is a secret/);
    assert.deepEqual(flows.launched, []);
    assert.equal((await run(['counts 1', 'whole'])).of('result')[0]!.data, 1);
  });

  it('ends the stages before one that has completed, and fails with the first that failed', async () => {
    const cut = await run(['counts inf', 'maps', 'first']);
    assert.equal(cut.summary.state, 'completed');
    for (const id of ['1.counts', '2.maps']) {
      const { status, msg } = cut.task('task_done', id);
      assert.ok(
        status === 'ok' || (status === 'cancelled' && msg === 'downstream ended'),
        `${id} ${status} ${msg}`,
      );
    }
    assert.equal(cut.task('task_done', '1.counts').status, 'cancelled');
    const failed = await run(['counts inf', 'fails', 'holds']);
    assert.deepEqual([failed.summary.state, failed.summary.code], ['failed', 'E_TOOL_FAILED']);
    assert.match(failed.summary.message!, /^stage 2\.fails \(r-\w+\) failed: /);
    assert.equal(failed.task('task_done', '1.counts').msg, 'stage 2.fails of the pipe: failed');
    // Its input may end before the pipe comes to it.
    assert.equal(failed.task('task_done', '3.holds').status, 'cancelled');
    assert.equal(failed.of('result').length, 0);
  });

  it('is never tried again as a whole, nor is a stage', async () => {
    const { summary, of } = await run(['counts 1', 'limited']);
    assert.deepEqual([summary.code, summary.retryable, summary.attempt], ['E_RATE_LIMIT', true, 1]);
    assert.deepEqual([of('task_submitted').length, of('runner_warning').length], [2, 0]);
  });

  it('ends what has begun when a stage cannot begin', async () => {
    flows.onLaunch = (request, begin) => {
      if (request.tool === 'holds') throw new AcorError('E_POLICY_DENIED', 'no', { hint: 'Ask.' });
      return begin(request);
    };
    const { summary, task } = await run(['counts inf', 'holds']);
    assert.deepEqual(
      [summary.code, summary.message, summary.hint],
      ['E_POLICY_DENIED', 'stage 2.holds could not begin: no', 'Ask.'],
    );
    assert.equal(task('task_done', '1.counts').msg, 'stage 2.holds of the pipe: could not begin');
  });

  it('is cancelled with all its stages, gently or at once', async () => {
    for (const force of [false, true]) {
      const running = await start(['counts inf', 'holds']);
      await flows.stored(
        running.runId,
        ({ type, task_id }) => type === 'task_started' && task_id === '2.holds',
      );
      await running.cancel('enough', { force });
      const { summary, task } = await flows.ended(running);
      assert.deepEqual([summary.state, summary.message, summary.code], ['cancelled', 'enough', null]);
      for (const id of ['1.counts', '2.holds']) assert.equal(task('task_done', id).status, 'cancelled');
    }
  });

  it('ends at its deadline with all its stages', async () => {
    const { task } = await reachedInTime(async (limitS) => {
      const ended = await run(['counts 1', 'holds'], { timeoutS: limitS });
      const { code, message } = ended.summary;
      assert.deepEqual([code, message], ['E_DEADLINE', `the pipe timed out after ${limitS} s`]);
      return ended.of('task_started').length === 2 ? ended : undefined;
    });
    assert.deepEqual(
      [task('task_done', '2.holds').status, task('task_done', '2.holds').msg],
      ['cancelled', 'deadline'],
    );
  });

  describe('that is resumed', () => {
    async function begun(more: Partial<NewRun> = {}, keyed?: KeyedCall): Promise<RunWriter> {
      const { store } = flows.services;
      const run = { ...newRun(), kind: 'pipe', ...more } as const;
      const writer = keyed ? ((await store.createOnce(run, keyed)) as RunWriter) : await store.create(run);
      enterState(writer, 'running');
      await writer.update({ state: 'running' });
      await writer.log.flush();
      return writer;
    }

    async function stage(pipe: RunWriter, outcome: Outcome, more: Partial<NewRun> = {}, keyed?: KeyedCall) {
      const parent = { run_id: pipe.record.run_id, task_id: 'x' };
      const writer = await begun({ kind: 'tool', parent, ...more }, keyed);
      await endRun(writer, outcome);
      await writer.close();
      return writer.record.run_id;
    }

    async function lose(pipe: RunWriter, stages: Record<string, string | undefined>): Promise<string> {
      for (const [task_id, child_run_id] of Object.entries(stages)) {
        pipe.log.append({ type: 'task_submitted', task_id });
        if (child_run_id !== undefined) pipe.log.append({ type: 'task_started', task_id, child_run_id });
      }
      await pipe.log.flush();
      flows.services.store.leases.lose(pipe.record.run_id);
      return pipe.record.run_id;
    }

    const resumed = async (runId: string, stages: readonly string[], force = false) =>
      run(stages, { again: { runId, mode: 'resume', force } });

    it('repeats no completed stage, and none before it', async () => {
      const pipe = await begun();
      const one = await stage(pipe, stopped('E_DISK_FULL', 'full'), { idempotent: true });
      const two = await stage(pipe, completed());
      const runId = await lose(pipe, { '1.counts': one, '2.maps': two });
      flows.project.write('go', '');
      const { summary } = await resumed(runId, ['counts 3', 'maps', 'waits']);
      assert.equal(summary.state, 'completed');
      assert.deepEqual(
        flows.launched.map(({ tool, reads, idempotencyKey }) => [tool, reads?.run_id, idempotencyKey]),
        [['waits', two, `${runId}/3.waits/1`]],
      );
    });

    it('follows a stage that still works, after a completed one', async () => {
      const pipe = await begun();
      const made = await flows.startOf({
        kind: 'tool',
        tool: 'counts',
        args: ['3'],
        isRead: true,
        parent: { run_id: pipe.record.run_id, task_id: '1.counts' },
      });
      const reads = { run_id: made.runId, form: 'lines' as const };
      const waits = await flows.startOf({
        kind: 'tool',
        tool: 'waits',
        args: [],
        env: env(),
        reads,
        parent: { run_id: pipe.record.run_id, task_id: '2.waits' },
      });
      await made.ended;
      const runId = await lose(pipe, { '1.counts': made.runId, '2.waits': waits.runId });
      const again = await start(['counts 3', 'waits'], { again: { runId, mode: 'resume' } });
      await until(() => existsSync(flows.project.root));
      flows.project.write('go', '');
      const { summary, of } = await flows.ended(again);
      assert.deepEqual([summary.state, flows.launched.length], ['completed', 0]);
      assert.deepEqual(of('result')[0]!.data, { output: '3' });
    });

    it('repeats a stage that failed and all after it, under new keys', async () => {
      const pipe = await begun();
      const one = await stage(pipe, completed());
      const two = await stage(pipe, stopped('E_DISK_FULL', 'full'));
      const runId = await lose(pipe, { '1.counts': one, '2.sure': two, '3.once': undefined });
      const { summary } = await resumed(runId, ['counts 3', 'sure', 'once']);
      assert.deepEqual([summary.state, summary.code], ['completed', null]);
      assert.deepEqual(
        flows.launched.map(({ tool, idempotencyKey }) => [tool, idempotencyKey]),
        [
          ['sure', `${runId}/2.sure/2`],
          // It was submitted, and never seen to start.
          ['once', `${runId}/3.once/1`],
        ],
      );
    });

    it('does not repeat a stage with unknown effects until it is forced to', async () => {
      const pipe = await begun();
      const two = await stage(pipe, stopped('E_RUNNER_LOST', 'gone'), { tool: 'once' });
      const runId = await lose(pipe, { '1.counts': undefined, '2.once': two });
      const refused = await resumed(runId, ['counts 3', 'once']);
      assert.deepEqual(
        [refused.summary.code, refused.summary.message],
        ['E_OUTCOME_UNKNOWN', refused.summary.message],
      );
      assert.match(
        refused.summary.message!,
        new RegExp(`run ${two} was stopped mid-way \\(E_RUNNER_LOST\\), and 'once' is not idempotent`),
      );
      assert.deepEqual(flows.launched, []);
      const forced = await resumed(runId, ['counts 3', 'once'], true);
      assert.deepEqual([forced.summary.state, flows.launched.length], ['completed', 2]);
    });

    it('does not repeat such a stage when its supervisor has logged the end, and not written the record yet', async () => {
      const { store } = flows.services;
      const pipe = await begun();
      const parent = { run_id: pipe.record.run_id, task_id: '2.once' };
      const writer = await begun({ kind: 'tool', tool: 'once', parent });
      const two = writer.record.run_id;
      const gate = Promise.withResolvers<void>();
      const update = writer.update.bind(writer);
      writer.update = async (...change) => {
        await gate.promise;
        return update(...change);
      };
      const ended = endRun(writer, stopped('E_RUNNER_LOST', 'gone'));
      // A process that waits for the record looks again and again. The pipe looks a few times before it waits.
      const { inspect } = store.leases;
      let looks = 0;
      store.leases.inspect = async (id) => {
        if (id === two && ++looks === 30) gate.resolve();
        return inspect.call(store.leases, id);
      };
      const runId = await lose(pipe, { '1.counts': undefined, '2.once': two });
      const refused = await resumed(runId, ['counts 3', 'once']);
      store.leases.inspect = inspect;
      gate.resolve();
      await ended;
      await writer.close();
      assert.deepEqual([refused.summary.code, flows.launched], ['E_OUTCOME_UNKNOWN', []]);
    });

    it('knows the run of a stage whose start was not recorded, however that ended', async () => {
      for (const [outcome, tool, code, launched] of [
        [stopped('E_DISK_FULL', 'full'), 'once', null, ['2.once/2']],
        [stopped('E_RUNNER_LOST', 'gone'), 'sure', null, ['2.sure/2']],
        [stopped('E_RUNNER_LOST', 'gone'), 'once', 'E_OUTCOME_UNKNOWN', []],
        [completed(), 'once', null, []],
      ] as const) {
        flows.launched.length = 0;
        const pipe = await begun();
        const { run_id } = pipe.record;
        const one = await stage(pipe, completed());
        const taskId = `2.${tool}`;
        const parent = { run_id, task_id: taskId };
        const call = { tool, args: [], cwd: flows.project.root, parent };
        const keyed = keyedCall({ ...call, idempotencyKey: `${run_id}/${taskId}/1` })!;
        const two = await stage(pipe, outcome, { tool, parent, idempotent: tool === 'sure' }, keyed);
        const runId = await lose(pipe, { '1.counts': one, [taskId]: undefined });
        const { summary, of } = await resumed(runId, ['counts 3', tool]);
        assert.equal(summary.code, code, JSON.stringify(summary));
        assert.deepEqual(
          flows.launched.map(({ idempotencyKey }) => idempotencyKey),
          launched.map((key) => `${runId}/${key}`),
        );
        const known = of('task_started').filter(({ task_id }) => task_id === taskId)[0];
        assert.equal(known!.child_run_id, two);
      }
    });

    it('starts again where the run of a stage was removed', async () => {
      const pipe = await begun();
      const runId = await lose(pipe, { '1.counts': newRun().run_id });
      const { summary } = await resumed(runId, ['counts 3', 'sure']);
      assert.deepEqual([summary.state, flows.launched.length], ['completed', 2]);
    });
  });
});
