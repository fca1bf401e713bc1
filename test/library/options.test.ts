import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { acorSandbox } from '../../src/ai-sdk/sandbox.ts';
import { Acor, AcorError, type FunctionTool } from '../../src/index.ts';
import { TestProject } from '../support/project.ts';

async function refusal(call: () => unknown): Promise<AcorError> {
  try {
    await call();
  } catch (error) {
    assert.ok(error instanceof AcorError, String(error));
    assert.equal(error.code, 'E_USAGE');
    assert.ok(error.hint);
    return error;
  }
  assert.fail('nothing was refused');
}

describe('the library, called wrongly', () => {
  let project: TestProject;
  let acor: Acor;
  let tool: FunctionTool;
  before(async () => {
    project = new TestProject({ tools: ['quick', 'asks'] });
    project.write('tools/plain/cli.sh', '#!/bin/bash\necho "$@"\n', 0o755);
    acor = new Acor({ cwd: project.root });
    tool = (await acor.functionTools()).find(({ name }) => name === 'quick')!;
  });
  after(() => project[Symbol.dispose]());

  // Wrong on purpose, so without types.
  const any = () => acor as unknown as Record<string, (...args: unknown[]) => unknown>;
  const calls: Record<string, (options: unknown) => unknown> = {
    'new Acor': (options) => new Acor(options as object),
    call: (options) => any()['call']!('run.list', {}, options),
    run: (options) => any()['run']!('quick', [], options),
    exec: (options) => any()['exec']!('echo', [], options),
    workflow: (options) => any()['workflow']!('some', [], options),
    pipe: (options) => any()['pipe']!(['quick'], options),
    task: (options) => any()['task']!('some', 'do it', options),
    answer: (options) => any()['answer']!('last', 'a-1', 1, options),
    functionTools: (options) => any()['functionTools']!(options),
    acorSandbox: (options) => acorSandbox({ root: project.root, ...(options as object) }),
  };

  for (const [name, call] of Object.entries(calls))
    it(`refuses an unknown option of ${name}, and names those that exist`, async () => {
      const { message, hint, details } = await refusal(() => call({ nonsense: 1 }));
      assert.equal(message, `${name}: there is no option "nonsense"`);
      assert.match(hint!, /^Options: \w+/);
      assert.partialDeepStrictEqual(details, { problems: [{ parameter: 'nonsense' }] });
      if (name === 'acorSandbox') return;
      for (const wrong of [null, 'text', 7, ['list']])
        assert.match((await refusal(() => call(wrong))).message, /options must be an object, not /);
    });

  const wrongOptions: [string, object, RegExp][] = [
    ['run', { timeoutS: -5 }, /timeoutS must be greater than 0, not -5/],
    ['run', { timeoutS: 0 }, /timeoutS must be greater than 0, not 0/],
    ['run', { timeoutS: Number.NaN }, /timeoutS must be a number, not NaN/],
    ['run', { timeoutS: '5' }, /timeoutS must be a number, not "5"/],
    ['run', { timeout: 5 }, /there is no option "timeout"/],
    ['run', { retries: 1.5 }, /retries must be a whole number, not 1\.5/],
    ['run', { retries: -1 }, /retries must be at least 0/],
    ['run', { answers: ['yes'] }, /answers must be a JSON object/],
    ['run', { signal: {} }, /signal: must be an AbortSignal/],
    ['run', { onEvent: 'x' }, /onEvent: must be a function/],
    ['run', { onQuestion: 1 }, /onQuestion: must be a function/],
    ['run', { idempotencyKey: 1 }, /idempotencyKey must be a text/],
    ['exec', { read: '.' }, /read must be a list/],
    ['exec', { net: [1] }, /net must be a text, not 1/],
    ['task', { executor: 'someone' }, /executor must be one of codex, /],
    ['call', { limit: 'x' }, /limit must be a number, not "x"/],
    ['call', { limit: -1 }, /limit must be at least 0/],
    ['call', { offset: 0.5 }, /offset must be a whole number/],
    ['call', { fields: 'state' }, /fields must be a list/],
    ['answer', { reason: 1 }, /reason must be a text/],
    ['functionTools', { limitS: 0 }, /limitS must be greater than 0/],
    ['new Acor', { cwd: 1 }, /cwd must be a text/],
    ['new Acor', { env: { PATH: 1 } }, /env at PATH must be a text/],
    ['acorSandbox', { root: 1 }, /root must be a text/],
  ];
  for (const [name, options, said] of wrongOptions)
    it(`refuses ${name} with ${said.source}`, async () => {
      assert.match((await refusal(() => calls[name]!(options))).message, said);
    });

  it('refuses wrong arguments, and says everything that is wrong at once', async () => {
    const wrong: [() => unknown, RegExp][] = [
      [() => any()['run']!(5), /tool must be a text, not 5/],
      [() => any()['run']!('quick', 'a b'), /args must be a list or be a JSON object, not "a b"/],
      [() => any()['run']!('quick', [1]), /args must at 0 be a text/],
      [() => any()['exec']!('echo', 'a'), /args must be a list/],
      [() => any()['workflow']!(undefined), /workflow is required/],
      [() => any()['pipe']!('quick'), /stages must be a list/],
      [() => any()['task']!('../x', 'do it'), /taskId: must be letters/],
      [() => any()['task']!('x', ''), /description must have at least 1 character/],
      [() => any()['answer']!(1, 'a-1', 1), /run must be a text/],
      [() => any()['call']!('run.list', 'x'), /input must be a JSON object, not "x"/],
      [() => any()['call']!('run.list', null), /input must be a JSON object, not null/],
      [() => any()['run']!(5, [], { timeoutS: -5, retrys: 1 }), /3 problems: tool .*; .*retrys.*; timeoutS /],
    ];
    for (const [call, said] of wrong) assert.match((await refusal(call)).message, said);
  });

  it('lists every problem of the arguments by an input_schema, and names inputs and no flags', async () => {
    project.write('tools/books/cli.sh', '#!/bin/bash\n', 0o755);
    const properties = {
      who: { type: 'string' },
      mail: { type: 'string', format: 'email' },
      seats: { type: 'integer', multipleOf: 2 },
      at: { type: 'object', required: ['x'] },
      max_price: {},
      by_card: {},
    };
    const schema = {
      required: ['who'],
      properties,
      anyOf: [{ required: ['max_price'] }, { required: ['by_card'] }],
    };
    const manifest = { name: 'books', adapter: 'plain', input_schema: { type: 'object', ...schema } };
    project.write('tools/books/tool.yaml', JSON.stringify(manifest));
    const problemsOf = async (args: Record<string, unknown>) => {
      const { details } = await refusal(() => acor.run('books', args));
      return (details!['problems'] as Record<string, string>[]).map(({ input, rule, fix }) => [
        input,
        rule,
        fix,
      ]);
    };
    const ofSchema = (name: string) => `It must match input_schema.properties.${name} of the tool.`;
    assert.deepEqual(await problemsOf({ mail: 'x', seats: 3, at: {} }), [
      ['who', 'required', "Add 'who'."],
      ['mail', 'format', ofSchema('mail')],
      ['seats', 'multipleOf', ofSchema('seats')],
      ['at', 'required', ofSchema('at')],
    ]);
    assert.deepEqual(await problemsOf({ who: 'Ada' }), [
      ['input_schema', 'anyOf', "Add 'max_price'. Or: Add 'by_card'."],
    ]);
  });

  it('starts no run with a wrong option', async () => {
    const runs = async () => (await acor.call('run.list')).data.runs.length;
    const before = await runs();
    await refusal(() => acor.run('quick', [], { timeoutS: -5 }));
    assert.equal(await runs(), before);
    await acor.run('quick', [], { timeoutS: 60 });
    assert.equal(await runs(), before + 1);
  });

  it('gives a function tool with wrong options or arguments a value, because a model cannot catch', async () => {
    const execute = tool.execute as (args: unknown, options?: unknown) => Promise<object>;
    const refused = { state: 'refused', error: { code: 'E_USAGE' } };
    for (const [args, options] of [[{}, { timeout: 1 }], [{}, null], [null], ['x']])
      assert.partialDeepStrictEqual(await execute(args, options), refused);
    assert.partialDeepStrictEqual(await execute({}), { state: 'completed' });
  });

  it('refuses an object of inputs for a tool or script that declares none, which would get its text', async () => {
    project.write('say.sh', '#!/bin/bash\necho "$@"\n', 0o755);
    for (const name of ['plain', './say.sh']) {
      assert.match((await refusal(() => acor.run(name, { who: 'x' }))).message, /declares no inputs/);
      assert.deepEqual((await acor.run(name, {})).result?.data, { output: '' });
    }
  });

  it('refuses a value that JSON cannot hold by the name of its input, and starts nothing', async () => {
    project.write('tools/takes/cli.sh', '#!/bin/bash\necho "$@"\n', 0o755);
    project.write(
      'tools/takes/tool.yaml',
      'name: takes\nadapter: plain\ninputs: [{ name: size, type: number }, { name: data, type: json }]\n',
    );
    project.write(
      'workflows/passes.yaml',
      'inputs: { size: { type: number }, data: { type: json } }\nsteps: [{ name: a, tool: takes, args: { data: "${inputs.data}" } }]\n',
    );
    const before = (await acor.call('run.list')).data.runs.length;
    const endless: Record<string, unknown> = {};
    endless['again'] = endless;
    for (const [inputs, said] of [
      [{ size: Number.NaN }, /'size' must not have the number NaN/],
      [{ size: Number.POSITIVE_INFINITY }, /'size' must not have the number Infinity/],
      [{ size: 5n }, /'size' must not have the number 5n/],
      [{ data: { list: [1, 5n] } }, /'data' must not have the number 5n/],
      [{ size: 1, data: endless }, /'data' cannot be written as JSON: it contains itself/],
      [{ data: { by_name: new Map([['a', 1]]) } }, /'data' must not have a Map at by_name/],
      [{ data: ['a', 'b\ud800'] }, /'data' must not have the text "b\\ud800" at 1/],
    ] as const) {
      const calls = [
        () => acor.run('takes', inputs),
        () => acor.workflow('passes', inputs),
        () => acor.call('run.start', { tool: 'takes', args: inputs as never }),
      ];
      for (const call of calls) {
        const { code, message } = await refusal(call);
        assert.equal(code, 'E_USAGE', message);
        assert.match(message, said);
      }
    }
    assert.equal((await acor.call('run.list')).data.runs.length, before);
    const half = await refusal(() => acor.run('plain', ['a', 'b\ud800']));
    assert.match(half.message, /argument 2 holds half of a surrogate pair/);
    // The control: the same inputs, with values that JSON holds.
    const { result } = await acor.run('takes', { size: 1.5, data: { list: [1, 5] } });
    assert.deepEqual(result?.data, { output: '--size 1.5 --data {"list":[1,5]}' });
  });
});

describe('the library, as the shell', () => {
  let project: TestProject;
  let acor: Acor;
  before(() => {
    project = new TestProject({ tools: ['asks', 'quick'] });
    project.write('say.sh', '#!/bin/bash\necho "$@"\n', 0o755);
    project.write('data.txt', 'one\n');
    acor = new Acor({ cwd: project.root });
  });
  after(() => project[Symbol.dispose]());

  it('runs a script by its path, with words', async () => {
    const { state, result } = await acor.run('./say.sh', ['a', '--b']);
    assert.deepEqual([state, result?.data], ['completed', { output: 'a --b' }]);
    await assert.rejects(async () => acor.run('./none.sh'), { code: 'E_TOOL_NOT_FOUND' });
  });

  it('runs any program, with what its arguments and options grant', async () => {
    const { result } = await acor.exec('wc', ['-l', 'data.txt']);
    assert.match(JSON.stringify(result?.data), /1 .*data\.txt/);
    const copy = ['-c', `echo two >> ${project.path('data.txt')}`];
    assert.equal((await acor.exec('sh', copy)).state, 'failed');
    assert.equal((await acor.exec('sh', copy, { write: ['data.txt'] })).state, 'completed');
    await assert.rejects(async () => acor.exec('no-such-program'), { code: 'E_RUNTIME_MISSING' });
  });

  it('names its options in errors and hints, where the command line has flags', async () => {
    const { hint } = await acor.exec('sleep', ['60'], { timeoutS: 0.1 });
    assert.match(hint!, /^Give it a longer timeout \(timeoutS: 3600, /);
    const { message, hint: fix } = await refusal(() => acor.exec('true', [], { net: ['example.com'] }));
    assert.equal(message, 'net must be host:port, got example.com');
    assert.equal(fix, 'Add the port: example.com:443');
    const stale = acor.call('run.start', { tool: 'quick', plan: 'abc' });
    await assert.rejects(stale, { code: 'E_POLICY_DENIED', hint: /^Start it with dry_run: true/ });
  });

  it('has the warnings of an answer', async () => {
    project.write('tools/mute/tool.yaml', 'version: 1.0.0\nadapter: jsonl\n');
    project.write('tools/mute/cli.sh', '#!/bin/bash\nexit 0\n', 0o755);
    const { meta } = await acor.call('run.start', { tool: 'mute' });
    assert.match(meta.warnings?.join() ?? '', /without a result/);
  });

  it('takes last for the newest run, also to answer its question', async () => {
    const run = acor.run('asks');
    for await (const { type } of run)
      if (type === 'action_required') await acor.answer('last', 'a-1', 'slow');
    const { run_id } = await run;
    assert.equal((await acor.call('run.show', { run: 'last' })).data.run_id, run_id);
    const decisions = await acor.call('run.decisions', { run: 'last' });
    assert.match(JSON.stringify(decisions.data), /"slow"/);
  });
});
