import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Acor, AcorError, type Question, type RunEvent } from '../../src/index.ts';
import { processesOf, TestProject } from '../support/project.ts';

const noPython = spawnSync('sh', ['-c', 'command -v python3']).status !== 0 && 'python3 is not here';
const ROOT = dirname(dirname(import.meta.dirname));

describe('the library', () => {
  let project: TestProject;
  let acor: Acor;
  before(() => {
    project = new TestProject({
      tools: ['quick', 'exits_with', 'waits', 'many_events', 'needs_env', 'reads_file', 'silent'],
    });
    project.write('tools/broken/cli.sh', '#!/bin/bash\n');
    project.write('tools/broken/tool.yaml', 'nmae: broken\n');
    project.write('data.txt', 'one\n');
    cpSync(project.path('tools/waits'), project.path('tools/waits_and_may_ask'), { recursive: true });
    project.write(
      'tools/waits_and_may_ask/tool.yaml',
      'name: waits_and_may_ask\nversion: 1.0.0\nactions: [choose]\n',
    );
    acor = new Acor({ cwd: project.root });
  });
  after(() => project[Symbol.dispose]());

  function assertUnbroken(events: readonly RunEvent[]): void {
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, index) => index + 1),
    );
    assert.equal(events[0]!.type, 'runner_start');
    assert.equal(events.at(-1)!.type, 'runner_end');
  }

  it('calls any operation by its name, with its input and its data', async () => {
    const { data, meta } = await acor.call('tool.list', undefined, { fields: ['name', 'problems'] });
    const broken = data.tools.find(({ name }) => name === 'broken');
    assert.match(broken?.problems[0] ?? '', /nmae/);
    assert.equal(meta.count, data.tools.length);
    assert.equal((await acor.call('tool.describe', { tool: 'reads_file' })).data.name, 'reads_file');
  });

  it('rejects a call that is wrong, with the hint and the next steps of the command line', async () => {
    await assert.rejects(acor.call('tool.describe', { tool: 'raeds_file' }), (error: AcorError) => {
      assert.ok(error instanceof AcorError);
      assert.equal(error.code, 'E_TOOL_NOT_FOUND');
      assert.ok(error.next!.length > 0);
      return /reads_file/.test(String(error.hint));
    });
    await assert.rejects(acor.call('tool.describe', { tool: 'broken' }), { code: 'E_MANIFEST_INVALID' });
    await assert.rejects(acor.call('run.show', { runn: 'x' } as never), { code: 'E_USAGE' });
    for (const name of ['run.shw', 'run.supervise'])
      await assert.rejects(acor.call(name as 'run.show', { run: 'x' }), { code: 'E_USAGE' });
    await assert.rejects(acor.call('run.shw' as 'run.show', { run: 'x' }), {
      hint: "Did you mean 'run.show'?",
    });
  });

  it('takes the inputs of a tool as an object in operations, too, and names their problems as inputs', async () => {
    const planned = await acor.call('run.start', {
      tool: 'reads_file',
      args: { file: 'data.txt' },
      dry_run: true,
    });
    assert.ok(JSON.stringify(planned.data).includes(project.path('data.txt')));
    const started = await acor.call('run.start', { tool: 'reads_file', args: { file: 'data.txt' } });
    assert.equal((started.data as { state: string }).state, 'completed');
    const wrong = acor.call('run.start', { tool: 'reads_file', args: { fil: 'data.txt' } });
    await assert.rejects(wrong, ({ code, message }: AcorError) => {
      assert.doesNotMatch(message, /--fil/);
      return code === 'E_USAGE' && /'fil'.*did you mean 'file'/.test(message);
    });
    // A tool without declared inputs would take the words of the object for its own.
    await assert.rejects(acor.call('run.start', { tool: 'quick', args: { file: 'data.txt' } }), {
      code: 'E_USAGE',
      message: /declares no inputs/,
    });
    await assert.rejects(acor.call('run.start', { tool: 'nothing', args: { x: 1 } }), {
      code: 'E_TOOL_NOT_FOUND',
    });
  });

  it('plans a run, starts it apart, waits for it, and reads what it left', async () => {
    const given = { tool: 'reads_file', args: ['data.txt'] };
    const plan = (await acor.call('run.start', { ...given, dry_run: true })).data as { token: string };
    const started = await acor.call('run.start', { ...given, plan: plan.token, detach: true });
    const { run_id: run } = started.data as { run_id: string };
    assert.equal((await acor.call('run.wait', { run })).data.state, 'completed');
    const types: string[] = [];
    await acor.call('run.attach', { run }, { onEvent: ({ type }) => types.push(type) });
    assert.deepEqual([types[0], types.at(-1)], ['runner_start', 'runner_end']);
    const { data, meta } = await acor.call('run.list', { tool: 'reads_file' }, { limit: 1 });
    assert.deepEqual([data.runs.map(({ run_id }) => run_id), meta.count], [[run], 1]);
    for (const name of [
      'run.show',
      'run.logs',
      'run.artifacts',
      'run.decisions',
      'run.verify',
      'run.replay',
    ] as const)
      await acor.call(name, { run });
    const failed = await acor.run('exits_with', ['9']);
    await assert.rejects(acor.call('run.retry', { run: failed.run_id }), (error: AcorError) => {
      assert.equal(error.details?.['attempt'], 2);
      return error.code === 'E_TOOL_FAILED';
    });
  });

  it('cancels a run of another process', async () => {
    const { data } = await acor.call('run.start', { tool: 'waits', detach: true });
    const { run_id: run } = data as { run_id: string };
    const cancelled = await acor.call('run.cancel', { run, reason: 'not needed' });
    assert.deepEqual([cancelled.data.state, cancelled.data.was_running], ['cancelled', true]);
    assert.deepEqual(processesOf(run), []);
  });

  it('takes the inputs of a tool as an object', async () => {
    const summary = await acor.run('reads_file', { file: 'data.txt' });
    assert.deepEqual(summary.result?.data, { output: 'one' });
    await assert.rejects(async () => acor.run('reads_file', { fiel: 'data.txt' }), { code: 'E_USAGE' });
  });

  it('leaves an error of the start to nobody: it is an unhandled rejection when the run is not used', () => {
    const program = `import { Acor } from ${JSON.stringify(join(ROOT, 'src/index.ts'))};
process.on('unhandledRejection', ({ code }) => console.log('unhandled', code));
const acor = new Acor({ cwd: ${JSON.stringify(project.root)} });
acor.run('no_such_tool');
await acor.run('no_such_tool').runId.catch(({ code }) => console.log('runId', code));
for await (const _ of acor.run('no_such_tool')) ;`;
    project.write(
      'unheard.mts',
      `${program.replace(/for await.*$/, '')}
try { for await (const _ of acor.run('no_such_tool')) ; } catch ({ code }) { console.log('iteration', code); }`,
    );
    const { stdout } = spawnSync(process.execPath, [project.path('unheard.mts')], { encoding: 'utf8' });
    const said = stdout.trim().split('\n').sort();
    assert.deepEqual(said, [
      'iteration E_TOOL_NOT_FOUND',
      'runId E_TOOL_NOT_FOUND',
      'unhandled E_TOOL_NOT_FOUND',
    ]);
  });

  it('resolves a run to its summary', async () => {
    const summary = await acor.run('reads_file', ['data.txt']);
    assert.deepEqual(
      [summary.state, summary.code, summary.rc, summary.attempt, summary.survivors],
      ['completed', null, 0, 1, []],
    );
    assert.deepEqual(summary.result?.data, { output: 'one' });
    assert.ok(existsSync(join(summary.dir, 'events.jsonl')));
  });

  it('emits the events to an iteration, to a listener, and to both together, in order and without a gap', async () => {
    const heard: RunEvent[] = [];
    const run = acor.run('many_events', ['3000'], { onEvent: (event) => heard.push(event) });
    const [first, second, summary] = await Promise.all([collect(run), collect(run), run]);
    assertUnbroken(first);
    assert.deepEqual(second, first);
    assert.deepEqual(heard, first);
    assert.equal(first.length, summary.events);
    assert.equal(await run.runId, summary.run_id);
    const progress = first.filter((event) => event.type === 'progress');
    assert.equal(progress.length, 3000);
    assert.deepEqual(await collect(run), first);
  });

  it('answers `run.logs` with follow with the events, also where a listener has had them', async () => {
    const run = await acor.run('many_events', ['1500']).runId;
    const heard: unknown[] = [];
    const onEvent = ({ seq }: RunEvent) => heard.push(seq);
    const { data, meta } = await acor.call('run.logs', { run, follow: true }, { onEvent });
    const all = project.events(run);
    assert.deepEqual([heard.length, data.events.length, data.last_seq], [all.length, 1000, 1000]);
    const [next] = meta.next as unknown as { input: { run: string; since: number } }[];
    const rest = await acor.call('run.logs', { ...next!.input, follow: true });
    assert.deepEqual([...data.events, ...rest.data.events], all);
  });

  it('lets an iteration stop early, and the run continues', async () => {
    const run = acor.run('many_events', ['500']);
    for await (const event of run) if (event.type === 'progress') break;
    assert.equal((await run).state, 'completed');
  });

  it('ends a run when its signal aborts, with all its processes', async () => {
    const abort = new AbortController();
    const run = acor.run('waits', [], {
      signal: abort.signal,
      onEvent: (event) => {
        if (event.type === 'heartbeat') abort.abort('had enough');
      },
    });
    const summary = await run;
    assert.deepEqual([summary.state, summary.message, summary.survivors], ['cancelled', 'had enough', []]);
    assert.deepEqual(processesOf(summary.run_id), []);
  });

  it('starts nothing when the signal of a call was aborted before', async () => {
    project.write('work/victim', 'kept\n');
    const before = project.runIds();
    const remove = (signal: AbortSignal) => acor.exec('rm', ['work/victim'], { write: ['work'], signal });
    const signal = AbortSignal.abort('changed my mind');
    for (const call of [
      () => remove(signal),
      () => acor.run('quick', [], { signal }),
      () => acor.call('run.exec', { program: 'rm', args: ['work/victim'], write: ['work'] }, { signal }),
      () => acor.call('run.start', { tool: 'quick', detach: true }, { signal }),
    ])
      await assert.rejects(async () => call(), { code: 'E_CANCELLED', cause: 'changed my mind' });
    assert.deepEqual(project.runIds(), before);
    assert.equal((await remove(new AbortController().signal)).state, 'completed');
    assert.ok(!existsSync(project.path('work/victim')));
  });

  it('stops to wait for a run when the signal of `call` aborts, and the run continues', async () => {
    for (const detached of [false, true]) {
      const stop = new AbortController();
      const onEvent = ({ type }: RunEvent) => type === 'heartbeat' && stop.abort();
      const tool = detached ? 'waits_and_may_ask' : 'waits';
      const { data } = await acor.call('run.start', { tool }, { signal: stop.signal, onEvent });
      const { run_id: run, state } = data as { run_id: string; state: string };
      assert.equal(state, 'running');
      assert.equal((await acor.call('run.cancel', { run })).data.state, 'cancelled');
    }
  });

  it('cancels a run of another instance by its id', async () => {
    const run = acor.run('waits');
    for await (const event of run) if (event.type === 'heartbeat') break;
    const other = new Acor({ cwd: project.root });
    const cancel = { run: await run.runId, reason: 'from elsewhere' };
    const { data } = await other.call('run.cancel', cancel);
    assert.deepEqual([data.state, data.run_id], ['cancelled', await run.runId]);
    assert.equal((await run).message, 'from elsewhere');
    assert.equal((await other.call('run.cancel', cancel)).data.was_running, false);
    await assert.rejects(other.call('run.cancel', { run: '../x' }), { code: 'E_RUN_NOT_FOUND' });
  });

  it('cancels by its own handle', async () => {
    const run = acor.run('waits');
    await run.cancel('never mind');
    assert.deepEqual([(await run).state, (await run).message], ['cancelled', 'never mind']);
  });

  it('returns a failure as a value', async () => {
    const failed = await acor.run('exits_with', ['9']);
    assert.deepEqual(
      [failed.state, failed.code, failed.rc, failed.retryable],
      ['failed', 'E_TOOL_FAILED', 9, false],
    );
    const silent = await acor.run('silent', [], { timeoutS: 0.3 });
    assert.deepEqual([silent.state, silent.survivors], ['failed', []]);
  });

  it('throws the reason why a run cannot start, from the await and from the iteration', async () => {
    const before = project.runIds();
    for (const [tool, args, code] of [
      ['nothing', [], 'E_TOOL_NOT_FOUND'],
      ['broken', [], 'E_MANIFEST_INVALID'],
      ['needs_env', [], 'E_ENV_MISSING'],
      ['reads_file', [], 'E_USAGE'],
      ['reads_file', ['/etc/passwd'], 'E_PERMISSION'],
    ] as const) {
      const run = acor.run(tool, args, { onEvent: () => assert.fail('no event') });
      await assert.rejects(
        async () => run,
        (error) => error instanceof AcorError && error.code === code,
      );
      await assert.rejects(collect(run), { code });
      await assert.rejects(run.runId, { code });
    }
    assert.deepEqual(project.runIds(), before);
  });

  it('rejects an invalid configuration, of a file and of a caller', async () => {
    const bad = new Acor({ cwd: project.root, config: { 'environment.timeout_s': 'soon' } });
    await assert.rejects(bad.call('tool.list'), { code: 'E_CONFIG_INVALID' });
    const good = new Acor({ cwd: project.root, config: { 'environment.timeout_s': 0.4 } });
    assert.equal((await good.run('waits')).code, 'E_DEADLINE');
  });

  it('uses only the environment that it is given', async () => {
    const given = new Acor({ cwd: project.root, env: { PATH: process.env.PATH, NEEDED_BY_TEST: '1' } });
    assert.equal((await given.run('needs_env')).state, 'completed');
  });

  it('throws the error of a listener at the await, and the run is not affected', async () => {
    const run = acor.run('quick', [], {
      onEvent: () => {
        throw new Error('a listener failed');
      },
    });
    await assert.rejects(async () => run, /a listener failed/);
    const events = await collect(run);
    assert.equal(events.at(-1)!.state, 'completed');
  });

  it('throws the error of a listener of a call as it is', async () => {
    const { run_id: run } = await acor.run('quick');
    const mine = new Error('mine');
    const onEvent = () => {
      throw mine;
    };
    for (const [operation, input] of [
      ['run.attach', { run }],
      ['run.logs', { run, follow: true }],
    ] as const)
      await assert.rejects(acor.call(operation, input, { onEvent }), (thrown) => thrown === mine);
    await acor.call('run.attach', { run }, { onEvent: () => {} });
  });

  it('keeps two concurrent runs apart', async () => {
    const runs = [
      acor.run('many_events', ['200']),
      acor.run('many_events', ['300']),
      acor.run('exits_with', ['3']),
    ];
    const [first, second, third] = await Promise.all(runs.map(collect));
    for (const events of [first!, second!, third!]) {
      assertUnbroken(events);
      assert.equal(new Set(events.map(({ run_id }) => run_id)).size, 1);
    }
    assert.deepEqual(
      (await Promise.all(runs)).map(({ state, rc }) => [state, rc]),
      [
        ['completed', 0],
        ['completed', 0],
        ['failed', 3],
      ],
    );
  });
});

describe('questions in the library', { skip: noPython }, () => {
  let project: TestProject;
  let acor: Acor;
  before(() => {
    project = new TestProject({ tools: ['asks', 'asks_any', 'asks_later'] });
    acor = new Acor({ cwd: project.root });
  });
  after(() => project[Symbol.dispose]());

  const answersOf = (events: readonly RunEvent[]) =>
    events.flatMap((event) => (event.type === 'action_answered' ? [event] : []));
  const warningsOf = (events: readonly RunEvent[]) =>
    events.flatMap((event) => (event.type === 'runner_warning' ? [event] : []));

  /** Iterates over a run up to its question. */
  async function untilAsked(run: AsyncIterable<RunEvent>): Promise<void> {
    for await (const event of run) if (event.type === 'runner_state' && event.to === 'waiting_ai') return;
  }

  it('are passed to a handler, with all their fields', async () => {
    const asked: Question[] = [];
    const run = acor.run('asks', [], {
      onQuestion: async (question) => {
        asked.push(question);
        return 'fast';
      },
    });
    const [summary, events] = await Promise.all([run, collect(run)]);
    assert.deepEqual([summary.state, summary.result?.data], ['completed', { answer: 'fast' }]);
    assert.deepEqual(asked, [
      {
        actionId: 'a-1',
        action: 'choose_speed',
        msg: undefined,
        context: { files: 3 },
        options: [
          { id: 'slow', label: 'Slowly' },
          { id: 'fast', label: 'Fast' },
        ],
        schema: undefined,
        default: undefined,
        timeoutS: 600,
        audience: 'ai',
        blocking: true,
      },
    ]);
    const [answer] = answersOf(events);
    assert.deepEqual([answer?.answer, answer?.source], ['fast', 'library']);
  });

  it('are answered in advance, by action or by id, and the handler gets only the others', async () => {
    const questions = ['first', 'second', 'third'].map((action) => ({ action, action_id: `id-${action}` }));
    const heard: string[] = [];
    const summary = await acor.run('asks_any', ['--questions', JSON.stringify(questions)], {
      answers: { first: { deep: [1] }, 'id-second': false },
      onQuestion: ({ action }) => {
        heard.push(action);
        return 3;
      },
    });
    assert.deepEqual(summary.result?.data, { first: { deep: [1] }, second: false, third: 3 });
    assert.deepEqual(heard, ['third']);
    assert.deepEqual(summary.warnings, []);
  });

  it('that no tool asked, and that were answered in advance, are a warning of the run', async () => {
    const { warnings } = await acor.run('asks', [], {
      answers: { choose_speed: 'fast', choose_sped: 'slow' },
    });
    assert.deepEqual(warnings, [
      "'choose_sped': no question asked for this answer, which was given beforehand",
    ]);
  });

  it('stay open after an invalid answer, of the handler or of a caller', async () => {
    const run = acor.run('asks', [], {
      answers: { choose_speed: 'sideways' },
      onQuestion: () => 'backwards',
    });
    const events = collect(run);
    await untilAsked(run);
    const runId = await run.runId;
    await assert.rejects(acor.answer(runId, 'a-1', 'upwards'), (error: AcorError) => {
      assert.ok(error instanceof AcorError);
      assert.deepEqual(error.next?.[0], {
        operation: 'run.answer',
        input: { run: runId, action_id: 'a-1', choice: 'slow' },
        why: 'Answer the question with this.',
      });
      return error.code === 'E_BAD_ANSWER';
    });
    for (const number of [10n, Number.NaN, [Number.POSITIVE_INFINITY]])
      await assert.rejects(acor.answer(runId, 'a-1', number), {
        code: 'E_BAD_ANSWER',
        message: /must not have the number (10n|NaN|Infinity), which/,
      });
    await assert.rejects(acor.answer(runId, 'a-9', 'slow'), { code: 'E_BAD_ANSWER' });
    await acor.answer(runId, 'choose_speed', 'slow', { reason: 'to be sure', by: 'a program' });
    assert.deepEqual((await run).result?.data, { answer: 'slow' });
    await assert.rejects(acor.answer(runId, 'a-1', 'fast'), { code: 'E_BAD_ANSWER' });
    await assert.rejects(acor.answer('r-0000000000000000', 'a-1', 1), { code: 'E_RUN_NOT_FOUND' });
    const all = await events;
    assert.deepEqual(
      answersOf(all).map(({ answer, by, source, reason }) => [answer, by, source, reason]),
      [['slow', 'a program', 'library', 'to be sure']],
    );
    assert.deepEqual(
      warningsOf(all).map(({ code, msg }) => [code, /sideways|backwards/.exec(msg)?.[0]]),
      [
        ['E_BAD_ANSWER', 'sideways'],
        ['E_BAD_ANSWER', 'backwards'],
      ],
    );
  });

  it('are left to other callers by a handler without an answer', async () => {
    const run = acor.run('asks', [], { onQuestion: () => undefined });
    await untilAsked(run);
    await new Acor({ cwd: project.root }).answer(await run.runId, 'a-1', 'fast');
    assert.deepEqual((await run).result?.data, { answer: 'fast' });
  });

  it('time out when the handler throws, and its error is reported', async () => {
    const run = acor.run('asks', ['--timeout-s', '0.3'], {
      onQuestion: () => {
        throw new Error('out of ideas');
      },
    });
    const [summary, events] = await Promise.all([run, collect(run)]);
    assert.deepEqual([summary.state, summary.code], ['failed', 'E_ACTION_TIMEOUT']);
    assert.match(
      warningsOf(events)
        .map(({ msg }) => msg)
        .join('\n'),
      /'a-1': .*out of ideas/,
    );
  });

  it('that were answered elsewhere meanwhile ignore the answer of a slow handler', async () => {
    let letGo = (_answer: string): void => {};
    const slow = new Promise<string>((resolve) => {
      letGo = resolve;
    });
    const run = acor.run('asks', [], { onQuestion: () => slow });
    const events = collect(run);
    await untilAsked(run);
    await acor.answer(await run.runId, 'a-1', 'slow');
    letGo('sideways');
    assert.deepEqual((await run).result?.data, { answer: 'slow' });
    assert.deepEqual(warningsOf(await events), []);
  });

  it('that do not block reach the handler as well', async () => {
    const summary = await acor.run('asks_later', [], { onQuestion: ({ blocking }) => ({ blocking }) });
    assert.deepEqual(summary.result?.data, { way: { blocking: false } });
  });

  it('reject an answer in advance that is not JSON, before anything starts', async () => {
    const before = project.runIds();
    await assert.rejects(async () => acor.run('asks', [], { answers: { choose_speed: () => 1 } }), {
      code: 'E_BAD_ANSWER',
    });
    assert.deepEqual(project.runIds(), before);
  });
});

describe('the built library', () => {
  const script = `
    import { Acor, AcorError, ACOR_VERSION } from 'acor';
    import { ERROR_CODES } from 'acor/protocol';
    import { emitResult } from 'acor/tool';
    import { defineOperation } from 'acor/compose';
    const acor = new Acor({ cwd: process.argv[2] });
    let events = 0;
    const { state } = await acor.run('quick', [], { onEvent: () => events++ });
    const refused = await acor.run('nothing').then(() => null, (error) => error instanceof AcorError && error.code);
    const kinds = [typeof ERROR_CODES, typeof emitResult, typeof defineOperation].join(' ');
    console.log(JSON.stringify({ state, events, refused, kinds, version: ACOR_VERSION }));
  `;
  let project: TestProject;
  let folder: string;
  before(() => {
    project = new TestProject({ tools: ['quick'] });
    mkdirSync(join(ROOT, 'test-results'), { recursive: true });
    folder = mkdtempSync(join(ROOT, 'test-results', 'import-'));
    writeFileSync(join(folder, 'main.mjs'), script);
  });
  after(() => {
    project[Symbol.dispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const runtime of ['node', 'bun']) {
    it(`works when it is imported by the name of the package in ${runtime}`, () => {
      const program = join(ROOT, 'node_modules', '.bin', runtime);
      const { stdout, stderr } = spawnSync(program, [join(folder, 'main.mjs'), project.root], {
        encoding: 'utf8',
      });
      assert.equal(stderr, '');
      assert.deepEqual(JSON.parse(stdout), {
        state: 'completed',
        events: 5,
        refused: 'E_TOOL_NOT_FOUND',
        kinds: 'object function function',
        version: '0.1.0',
      });
    });
  }
});

describe('a requested run', () => {
  it('can be caught and finished like any promise', async () => {
    const project = new TestProject({ tools: ['quick'] });
    const acor = new Acor({ cwd: project.root });
    let finished = false;
    const summary = await acor.run('quick').finally(() => {
      finished = true;
    });
    assert.deepEqual([summary.state, finished], ['completed', true]);
    assert.equal(
      await acor.run('no_such_tool').catch((error: unknown) => (error as { code: string }).code),
      'E_TOOL_NOT_FOUND',
    );
    project[Symbol.dispose]();
  });
});

async function collect(run: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}
