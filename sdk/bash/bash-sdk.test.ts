import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { answerLine, describeSdk } from '../contract/sdk-contract.ts';
import { missing, RunFolders, ToolProcess } from '../contract/tool-process.ts';

const driver = ['bash', join(import.meta.dirname, 'fixtures', 'driver.sh')];
const skip = missing('bash');

describeSdk({ language: 'bash', driver, skip });

describe('the bash SDK on its own', () => {
  const finish = (run: RunFolders, args: string[]) =>
    new ToolProcess([...driver, ...args], { cwd: run.workspace, env: run.env() }).ended;
  const script = (run: RunFolders, text: string) =>
    spawnSync('bash', ['-c', `. "$ACOR_LIB/acor.sh"; ${text}`], {
      cwd: run.workspace,
      env: run.env(),
      encoding: 'utf8',
      timeout: 60_000,
    });

  it('writes the time to the millisecond, and to the second where bash does not know more', {
    skip,
  }, async () => {
    const tsAfter = (before: string) => {
      const script = `. "$0"; ${before}; emit_log info x`;
      const { stdout } = spawnSync('bash', ['-c', script, join(import.meta.dirname, 'acor.sh')], {
        encoding: 'utf8',
      });
      return String(JSON.parse(stdout).ts);
    };
    const hasFraction = spawnSync('bash', ['-c', '[[ -n ${EPOCHREALTIME:-} ]]']).status === 0;
    assert.match(tsAfter(':'), hasFraction ? /:\d\d\.\d{3}Z$/ : /:\d\dZ$/);
    assert.match(tsAfter('unset EPOCHREALTIME'), /T\d\d:\d\d:\d\dZ$/);
    assert.equal(tsAfter('unset EPOCHREALTIME; EPOCHREALTIME=1700000000,123456'), '2023-11-14T22:13:20.123Z');
    assert.ok(Math.abs(Date.parse(tsAfter(':')) - Date.now()) < 600_000);
  });

  it('keeps numbers, true and false what they are, and text text', { skip }, async () => {
    using run = new RunFolders();
    const given: [string, unknown][] = [
      ['0', 0],
      ['-7.25', -7.25],
      ['1e3', 1000],
      ['true', true],
      ['false', false],
      ['null', 'null'],
      ['007', '007'],
      ['+1', '+1'],
      ['1.', '1.'],
      ['.5', '.5'],
      ['0x10', '0x10'],
      ['12345678901234567', '12345678901234567'],
      ['a=b', 'a=b'],
      ['', ''],
    ];
    const { events } = await finish(run, ['fields', ...given.map(([text], index) => `f${index}=${text}`)]);
    assert.deepEqual(
      given.map((_, index) => events[0]?.[`f${index}`]),
      given.map(([, value]) => value),
    );
  });

  it('puts JSON in as it stands, on one line, and refuses what is not JSON', { skip }, async () => {
    using run = new RunFolders();
    const sound = await finish(run, ['fields', 'a:={ "b" :\n[1, "\\u00e4", {}] }', 'c:="01"']);
    assert.deepEqual([sound.events[0]?.['a'], sound.events[0]?.['c']], [{ b: [1, 'ä', {}] }, '01']);
    for (const text of [
      '',
      '{',
      '[1,]',
      '{"a":1,}',
      "{'a':1}",
      '01',
      '"\t"',
      '"\\x"',
      '1 2',
      'nul',
      '[1}',
      '"\\u12"',
    ]) {
      assert.throws(() => JSON.parse(text), SyntaxError, text);
      const { code, events } = await finish(run, ['fields', `a:=${text}`]);
      assert.deepEqual([code, events.at(-1)?.['code']], [30, 'E_USAGE'], text);
    }
  });

  it('says of an input without a value what to write, and takes a default for it', { skip }, async () => {
    using run = new RunFolders();
    const of = (...words: string[]) =>
      new ToolProcess([...driver, 'args', ...words], {
        cwd: run.workspace,
        env: { ...run.env(), ACOR_INPUTS: '{"given":"Ada"}' },
      }).ended;
    const failed = (await of('who')).events.at(-1)!;
    assert.equal(failed['code'], 'E_USAGE');
    const problem = readFileSync(join(run.workspace, 'problem'), 'utf8');
    assert.match(problem, /the input 'who' has no value.*args who DEFAULT/);
    assert.equal((await of('who', 'another name')).events.at(-1)!['data'], 'another name');
    assert.equal((await of('given', 'another')).events.at(-1)!['data'], 'Ada');
  });

  it('gives an answer as text, with the newlines at its end', { skip }, async () => {
    using run = new RunFolders();
    const tool = new ToolProcess([...driver, 'ask-text'], {
      cwd: run.workspace,
      env: run.env(),
      stdin: 'open',
    });
    await tool.until('action_required');
    tool.write(answerLine('a-1', 'é "😀"\n\n'));
    assert.equal((await tool.ended).events.at(-1)?.['text'], '<é "😀"\n\n>');
  });

  it('refuses at once a question whose event the script itself takes, and asks from another subshell', {
    skip: skip || (existsSync('/proc/self/fd/1') ? false : 'there is no /proc'),
  }, async () => {
    using run = new RunFolders();
    const captured = await finish(run, ['ask-captured']);
    assert.deepEqual(
      [captured.code, captured.events.map(({ type, code }) => [type, code])],
      [30, [['error', 'E_USAGE']]],
    );
    assert.match(captured.stderr, /Call it alone: ask choose …; then read \$ANSWER/);
    const tool = new ToolProcess([...driver, 'ask-in-subshell'], {
      cwd: run.workspace,
      env: run.env(),
      stdin: 'open',
    });
    await tool.until('action_required');
    tool.write(answerLine('a-1', 'a'));
    assert.equal((await tool.ended).events.at(-1)?.['text'], 'a');
  });

  it('refuses an option of ask without a value, where bash would try to shift it for ever', { skip }, () => {
    using run = new RunFolders();
    const asked = (words: string) => script(run, `ask ${words}; echo "$? $ACOR_ERROR"`);
    for (const option of ['option', 'schema', 'default', 'timeout', 'audience', 'msg', 'id']) {
      const { stdout, stderr } = asked(`choose --option a --${option} $unset`);
      assert.equal(stdout, '1 E_USAGE\n', option);
      assert.ok(stderr.includes(`ask: --${option} has no value`), stderr);
    }
    writeFileSync(join(run.answers, 'a-1.json'), answerLine('a-1', 'a'));
    assert.equal(asked('choose --option a --msg "$unset"').stdout, '0 \n');
  });

  it('writes a log whose message is missing with an empty one', { skip }, () => {
    using run = new RunFolders();
    const { level, msg } = JSON.parse(script(run, 'emit_log warn $unset').stdout);
    assert.deepEqual([level, msg], ['warn', '']);
  });

  it('keeps long lines whole while the heartbeat beats', { skip }, async () => {
    using run = new RunFolders();
    const { events } = await finish(run, ['long-lines', '20']);
    assert.equal(events.filter((event) => event.type === 'log').length, 20);
    assert.ok(events.some((event) => event.type === 'heartbeat'));
    assert.equal(events.at(-1)?.type, 'result');
  });

  it('reports what ended it in a command substitution, and nothing that the tool has handled', {
    skip,
  }, async () => {
    using run = new RunFolders();
    const inside = await finish(run, ['uncaught-in-substitution', 'token']);
    assert.deepEqual([inside.code, inside.events.at(-1)?.['code']], [30, 'E_ENV_MISSING']);
    assert.match(String(inside.events.at(-1)?.['hint']), /acor secret set token/);
    for (const [command, exit] of [
      ['uncaught-other', 1],
      ['uncaught-handled', 7],
    ] as const) {
      const { code, events } = await finish(run, [command]);
      assert.equal(code, exit);
      assert.deepEqual(
        events.filter(({ type }) => type === 'error'),
        [],
      );
    }
    assert.deepEqual(readdirSync(run.logs), []);
  });
});
