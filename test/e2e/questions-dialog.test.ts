import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { TestProject, until } from '../support/project.ts';
import { KEYS, noTerminal, Terminal } from '../support/terminal.ts';

const hasPython = spawnSync('sh', ['-c', 'command -v python3']).status === 0;
/** A user by name, whatever the environment of the terminal says. */
const me = execFileSync('id', ['-un'], { encoding: 'utf8' }).trim();
/** A line that only a dialog with choices shows. */
const CHOICES = 'to navigate';

describe('a question at a terminal', { skip: noTerminal || (!hasPython && 'python3 is not here') }, () => {
  let project: TestProject;
  before(() => {
    project = new TestProject({ tools: ['asks', 'asks_any'] });
    // The entry itself has no call that asks, so `acor run` supervises the tool in its own process.
    project.write('tools/asks_here/cli.py', 'import way\nway.ask_way()\n');
    project.write(
      'tools/asks_here/way.py',
      'from acor.protocol import ask, emit_result\ndef ask_way():\n    emit_result(data={"way": ask("which_way", options=["left", "right"])})\n',
    );
  });
  after(() => project[Symbol.dispose]());

  const lastRun = () => project.runIds().at(-1)!;
  const answered = (runId: string) => project.events(runId).filter(({ type }) => type === 'action_answered');
  const resultOf = (runId: string) => project.events(runId).find(({ type }) => type === 'result')?.data;

  function asks(...questions: object[]): string[] {
    return ['run', 'asks_any', '--questions', JSON.stringify(questions)];
  }

  it('is shown as a choice of its options, and the answer reaches the live tool as the person’s', async () => {
    const terminal = new Terminal(project, ['run', 'asks']);
    await terminal.shows(CHOICES);
    assert.match(terminal.text, /choose_speed \(a-1\) asks an AI; you may answer\n.*files: 3\n/);
    terminal.type(KEYS.down);
    await terminal.shows('● Fast');
    terminal.type(KEYS.enter);
    assert.equal(await terminal.ended, 0);
    assert.match(terminal.text, new RegExp(`answer to a-1: "fast", by ${me}\\n[\\s\\S]*completed in`));
    const [event] = answered(lastRun());
    assert.deepEqual([event!.answer, event!.by, event!.source], ['fast', me, 'dialog']);
    assert.deepEqual(resultOf(lastRun()), { answer: 'fast' });
  });

  it('shows who is asked, why, and what each choice means, with the default selected', async () => {
    const options = [
      { id: 'keep', label: 'Keep both' },
      { id: 'drop', label: 'Drop the old one', description: 'it cannot be had back' },
    ];
    const question = { action: 'first', msg: 'Which one?', audience: 'user', options, default: 'drop' };
    const terminal = new Terminal(project, asks({ ...question, context: { rows: 3, note: 'two\nlines' } }));
    await terminal.shows(CHOICES);
    assert.match(terminal.text, /first \(a-1\) asks you\n.*rows: 3\n.*note: two\n.*lines\n/);
    assert.match(
      terminal.text,
      /Which one\?\n.*○ Keep both\n.*● Drop the old one \(it cannot be had back\)\n/,
    );
    terminal.type(KEYS.enter);
    assert.equal(await terminal.ended, 0);
    assert.deepEqual(resultOf(lastRun()), { first: 'drop' });
  });

  it('accepts yes or no, a listed value, a number and a text, as its schema requires', async () => {
    const terminal = new Terminal(
      project,
      asks(
        { action: 'yes_no', schema: { type: 'boolean' } },
        { action: 'size', schema: { enum: [10, 20] } },
        { action: 'count', schema: { type: 'integer', minimum: 5 }, default: 5 },
        { action: 'name', schema: { type: 'string', minLength: 1 } },
      ),
    );
    await terminal.shows('Yes / ● No');
    terminal.type('y');
    await terminal.shows(CHOICES);
    terminal.type(`${KEYS.down}${KEYS.enter}`);
    await terminal.shows('JSON Schema: {"type":"integer","minimum":5}');
    terminal.type(`${KEYS.backspace}4${KEYS.enter}`);
    await terminal.shows('answer must be >= 5');
    terminal.type(`2${KEYS.enter}`);
    await terminal.shows('JSON Schema: {"type":"string"');
    terminal.type(KEYS.enter);
    await terminal.shows('fewer than 1 characters');
    terminal.type(`7${KEYS.enter}`);
    assert.equal(await terminal.ended, 0);
    assert.deepEqual(resultOf(lastRun()), { yes_no: true, size: 20, count: 42, name: '7' });
    assert.equal(
      answered(lastRun()).every(({ source }) => source === 'dialog'),
      true,
    );
  });

  it('does not answer yes when the person only presses Enter', async () => {
    const terminal = new Terminal(project, asks({ action: 'first', schema: { type: 'boolean' } }));
    await terminal.shows('● No');
    terminal.type(KEYS.enter);
    assert.equal(await terminal.ended, 0);
    assert.deepEqual(resultOf(lastRun()), { first: false });
  });

  it('accepts free text when the schema allows more than the options', async () => {
    const question = { action: 'first', options: ['all', 'none'], schema: { type: 'integer' } };
    const terminal = new Terminal(project, asks(question));
    await terminal.shows(CHOICES);
    terminal.type(`${KEYS.down}${KEYS.down}${KEYS.enter}`);
    await terminal.shows('JSON Schema');
    terminal.type(`12${KEYS.enter}`);
    assert.equal(await terminal.ended, 0);
    assert.deepEqual(resultOf(lastRun()), { first: 12 });
  });

  it('lets no escape sequence of the tool reach the terminal', async () => {
    const evil = '\u001b]0;owned\u0007\u001b[5mblinking\u009b5m\r\u202e';
    const question = {
      action: `first${evil}`,
      msg: `Which?${evil}`,
      context: { [`key${evil}`]: `value${evil}`, deep: { list: [evil] } },
      options: [{ id: `a${evil}`, label: `one${evil}`, description: `more${evil}` }],
    };
    const typed = {
      action: 'second',
      default: evil,
      schema: { title: evil, type: 'object', required: [evil] },
    };
    const terminal = new Terminal(project, asks(question, typed));
    await terminal.shows(CHOICES);
    terminal.type(KEYS.enter);
    await terminal.shows('JSON Schema');
    terminal.type(`{}${KEYS.enter}`);
    await terminal.shows('must have required property');
    terminal.type(KEYS.ctrlC);
    assert.equal(await terminal.ended, 2);
    assert.match(terminal.text, /blinking/, 'the words themselves are shown');
    assert.doesNotMatch(terminal.raw, /\u001b\]|\u001b\[5m|\u009b|\u202e|\u0007/);
    const [asked] = project.events(lastRun()).filter(({ type }) => type === 'action_required');
    assert.equal(asked!.msg, `Which?${evil}`, 'the log has them, as the control of what was tried');
    await project.acor(['cancel', lastRun()]);
  });

  it('lets no line of the tool look like one of the runner', async () => {
    const lie = 'x\nwarning: all is well';
    const options = [{ id: 'a', label: lie, description: lie }];
    const chosen = { action: lie, msg: lie, context: { [lie]: lie }, options };
    const terminal = new Terminal(project, asks(chosen, { action: 'second', msg: lie }));
    await terminal.shows(CHOICES);
    terminal.type(KEYS.enter);
    await terminal.shows('second (a-2)');
    await terminal.shows('◆  x', 2);
    terminal.type(`words${KEYS.enter}`);
    assert.equal(await terminal.ended, 0);
    assert.match(terminal.text, /^ {2}warning: all is well$/m);
    assert.doesNotMatch(terminal.text, /^warning: all/m);
  });

  it('is asked one after the other when the tool asks several at once', async () => {
    const questions = [
      { action: 'first', action_id: 'q1', options: ['a', 'b'] },
      { action: 'second', action_id: 'q2', options: ['c', 'd'] },
    ];
    const terminal = new Terminal(project, [...asks(...questions), '--at-once']);
    await terminal.shows(CHOICES);
    terminal.type(KEYS.enter);
    await terminal.shows('asks an AI', 2);
    await until(() => answered(lastRun()).length === 1);
    assert.equal(project.record(lastRun())!.state, 'waiting_ai');
    await terminal.shows(CHOICES, 2);
    terminal.type(KEYS.enter);
    assert.equal(await terminal.ended, 0);
    assert.deepEqual(resultOf(lastRun()), { first: 'a', second: 'c' });
  });

  it('closes with a message when another shell answers', async () => {
    const terminal = new Terminal(project, ['run', 'asks']);
    await terminal.shows(CHOICES);
    const other = await project.envelope(['answer', lastRun(), '--choice', 'slow', '--by', 'the other']);
    assert.equal(other.ok, true);
    assert.equal(await terminal.ended, 0);
    assert.match(
      terminal.text,
      /It has been answered meanwhile\.\n[\s\S]*answer to a-1: "slow", by the other\n/,
    );
    assert.equal(answered(lastRun()).length, 1);
  });

  it('closes when the run is cancelled', async () => {
    const terminal = new Terminal(project, ['run', 'asks']);
    await terminal.shows(CHOICES);
    await project.acor(['cancel', lastRun()]);
    assert.equal(await terminal.ended, 1);
    assert.match(terminal.text, /no longer waits[\s\S]*cancelled in/);
  });

  for (const [name, key] of [
    ['Ctrl-C', KEYS.ctrlC],
    ['Ctrl-D', KEYS.ctrlD],
  ] as const) {
    it(`is left with ${name}: the run keeps waiting, the exact commands are shown, and attach asks the question again`, async () => {
      const terminal = new Terminal(project, ['run', 'asks']);
      await terminal.shows(CHOICES);
      terminal.type(key);
      assert.equal(await terminal.ended, 2);
      const runId = lastRun();
      for (const command of [`acor answer ${runId} a-1 --choice slow`, `acor attach ${runId}`])
        assert.ok(terminal.text.includes(`  ${command}\n`), terminal.text);
      assert.equal(project.record(runId)!.state, 'waiting_ai');
      const again = new Terminal(project, ['attach', runId]);
      await again.shows(CHOICES);
      again.type(KEYS.enter);
      assert.equal(await again.ended, 0);
      assert.doesNotMatch(again.text, /"type"/, 'a person is shown a rendering');
      assert.deepEqual(resultOf(runId), { answer: 'slow' });
    });
  }

  it('closes with its terminal, and the run keeps waiting', async () => {
    const first = new Terminal(project, ['run', 'asks']);
    await first.shows(CHOICES);
    first.type(KEYS.ctrlC);
    await first.ended;
    const runId = lastRun();
    const terminal = new Terminal(project, ['attach', runId]);
    await terminal.shows(CHOICES);
    assert.equal(processesWith(`attach\0${runId}`).length > 0, true);
    terminal.child.kill('SIGKILL');
    await until(() => processesWith(`attach\0${runId}`).length === 0);
    assert.equal(project.record(runId)!.state, 'waiting_ai');
    await project.acor(['cancel', runId]);
  });

  it('closes as well with the terminal in which the run was started', async () => {
    const question = JSON.stringify([{ action: 'of_a_closed_terminal' }]);
    const terminal = new Terminal(project, ['run', 'asks_any', '--questions', question]);
    await terminal.shows('of_a_closed_terminal (a-1)');
    const started = () => processesWith(`run\0asks_any\0--questions\0${question}`);
    assert.equal(started().length > 0, true);
    terminal.child.kill('SIGKILL');
    await until(() => started().length === 0);
    assert.equal(project.record(lastRun())!.state, 'waiting_ai');
    await project.acor(['cancel', lastRun()]);
  });

  it('is asked also for a tool that did not declare it; when left, another shell answers it', async () => {
    const terminal = new Terminal(project, ['run', 'asks_here']);
    await terminal.shows(CHOICES);
    terminal.type(`${KEYS.down}${KEYS.enter}`);
    assert.equal(await terminal.ended, 0);
    assert.deepEqual(resultOf(lastRun()), { way: 'right' });
    const left = new Terminal(project, ['run', 'asks_here']);
    await left.shows(CHOICES);
    left.type(KEYS.ctrlC);
    await left.shows(`acor answer ${lastRun()} a-1 --choice left`);
    await project.envelope(['answer', lastRun(), '--choice', 'left']);
    assert.equal(await left.ended, 0);
    assert.deepEqual(resultOf(lastRun()), { way: 'left' });
  });

  it('is asked only where a person is at both ends: else exit code 2 and the commands', async () => {
    for (const [what, args, options] of [
      ['a standard input that is no terminal', ['run', 'asks'], { redirect: '</dev/null' }],
      ['an agent', ['run', 'asks'], { env: { CLAUDECODE: '1' } }],
      ['a wish for an envelope', ['run', '--json', '--no-stream', 'asks'], {}],
      ['a terminal that cannot draw', ['run', 'asks'], { env: { TERM: 'dumb' } }],
    ] as const) {
      const terminal = new Terminal(project, args, options);
      assert.equal(await terminal.ended, 2, what);
      assert.ok(terminal.text.includes(`acor answer ${lastRun()} a-1 --choice slow`), what);
      assert.ok(!terminal.text.includes(CHOICES), what);
      await project.acor(['cancel', lastRun()]);
    }
  });
});

function processesWith(words: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(words);
    } catch {
      return false;
    }
  });
}
