import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { displayWidth } from '../../src/compose/display-width.ts';
import { parseLines, TestProject, until, WITHOUT_SANDBOX } from '../support/project.ts';
import { noTerminal, Terminal } from '../support/terminal.ts';
import { noTmux, TmuxScreen } from '../support/tmux.ts';

/** Writes the lines of the protocol in its script, and waits at `wait` until a file exists. */
const SAYS = `#!/bin/bash
while IFS= read -r line; do
  case $line in
    wait:*) until [ -e "\${line#wait:}" ]; do sleep 0.05; done ;;
    err:*) echo "\${line#err:}" >&2 ;;
    *) printf '%s\\n' "$line" ;;
  esac
done < "$1"
[ ! -e "$1.rc" ] || exit "$(cat "$1.rc")"
`;

const WIDE = '漢字かな 👩‍👩‍👧 é한글 plain words that go on for longer than forty columns do';

let project: TestProject;
let scripts = 0;
before(() => {
  project = new TestProject({ tools: ['asks_any'], config: WITHOUT_SANDBOX });
  project.write('tools/says/cli.sh', SAYS, 0o755);
});
after(() => project[Symbol.dispose]());

/** A script for the tool, with gates that open one by one; `args` is the command that runs it. */
function script(...lines: (object | string)[]) {
  const name = `script-${++scripts}`;
  const gate = (index: number) => project.path(`${name}-gate-${index}`);
  const text = lines.map((line, index) =>
    line === 'wait' ? `wait:${gate(index)}` : typeof line === 'string' ? line : JSON.stringify(line),
  );
  const path = project.write(name, `${text.join('\n')}\n`);
  const gates = lines.flatMap((line, index) => (line === 'wait' ? [index] : []));
  return {
    args: ['acor', 'run', 'says', path],
    path,
    go: () => project.write(gate(gates.shift()!).slice(project.root.length + 1), ''),
  };
}

const RESULT = { type: 'result', status: 'ok', metrics: { files: 3 } };
const step = (name: string, pct?: number, msg?: string) => ({ type: 'progress', step: name, pct, msg });
const log = (msg: string, level = 'info') => ({ type: 'log', level, msg });

/** Asserts that the terminal wrapped no line; `text` has wrapped lines joined. */
function assertFits(history: string, columns: number): void {
  for (const line of history.split('\n')) assert.ok(displayWidth(line) <= columns, `${columns}: ${line}`);
}

describe('a run on a screen', { skip: noTmux }, () => {
  for (const columns of [40, 120]) {
    it(`of ${columns} columns shows steps, a bar, clocks and messages, and leaves all of it in order`, async () => {
      const scripted = script(
        { type: 'start', step: 'scan' },
        log(WIDE),
        'wait',
        step('copy', 45, `part 3 of 7 ${WIDE}`),
        'err:to stderr',
        log(`${'x'.repeat(columns)}✓ completed in 99 s`),
        log('take care', 'warn'),
        'wait',
        step('check'),
        'wait',
        RESULT,
      );
      using screen = new TmuxScreen(project, { columns });
      screen.enter(scripted.args);
      await screen.shows(/^\S scan$/m);
      scripted.go();
      const text = await screen.shows(/45%[\s\S]*take care|take care[\s\S]*45%/);
      assert.match(text, /^│ 漢字かな/m);
      assert.match(text, /x✓ completed in 99 s$|│ x*✓ completed|│ ✓ completed|│ completed/m, 'the control');
      assert.doesNotMatch(
        text,
        /^✓ completed/m,
        'a line that is broken does not begin like one of the runner',
      );
      assert.match(text, /^✓ scan {2}\d+\.\d s$/m);
      assert.match(text, /^│ warn: take care$/m);
      const [work, clock] = screen.lines.slice(-2);
      assert.match(
        work!,
        columns === 40
          ? /^\S copy {2}█{3}░{5} {2}45% {2}part/
          : /^\S copy {2}█{10}░{14} {2}45% {2}part 3 of 7 漢字/,
      );
      assert.match(clock!, /^ {2}0:\d\d/);
      scripted.go();
      await screen.shows(/^\S check$/m);
      assert.doesNotMatch(screen.text(), /\d+%/, 'a step without a percentage has no bar');
      scripted.go();
      const end = await screen.shows(/^✓ completed in \d+\.\d s\n\$$/m);
      for (const name of ['scan', 'copy', 'check'])
        assert.equal(end.match(new RegExp(`^✓ ${name} {2}`, 'gm'))?.length, 1, end);
      assert.match(end, /^ {2}files 3$/m);
      assert.doesNotMatch(end, /45%|░/, 'nothing of the footer is left');
      const history = screen.text('history');
      assertFits(history.slice(history.indexOf('says  r-')), columns);
      assert.ok(screen.cursor().isVisible);
    });
  }

  it('lets the person choose the tool or the run where none is given', async () => {
    using other = new TestProject({ config: WITHOUT_SANDBOX });
    other.write('tools/first/main', '#!/bin/sh\necho the first one\n', 0o755);
    other.write('tools/second/main', '#!/bin/sh\necho the second one\n', 0o755);
    using screen = new TmuxScreen(other, { columns: 100 });
    screen.enter(['acor', 'run']);
    await screen.shows(/Which tool\?[\s\S]*first[\s\S]*second/);
    screen.keys('Down', 'Enter');
    await screen.shows(/completed in[\s\S]*^the second one$/m);
    screen.enter('clear; acor replay');
    await screen.shows(/Which run\?[\s\S]*completed second/);
    screen.keys('Enter');
    await screen.shows(/replayed|completed in/);
    // Nothing is offered that the command would not accept.
    screen.enter('clear; acor wait');
    await screen.shows(/<run> is required/);
  });

  it('fails with the step, the error, its hint and the next commands', async () => {
    const scripted = script(step('copy', 10), {
      type: 'error',
      code: 'E_TOOL_FAILED',
      msg: 'no luck',
      hint: 'try later',
    });
    project.write(`${scripted.path.slice(project.root.length + 1)}.rc`, '30');
    using screen = new TmuxScreen(project, { columns: 120 });
    screen.enter(scripted.args);
    const text = await screen.shows(/failed in[\s\S]*\$$/m);
    const runId = project.runIds().at(-1);
    assert.match(
      text,
      /^✗ copy {2}.*\n✗ E_TOOL_FAILED: no luck\n {2}try later\n✗ failed in \d+\.\d s\nNext\n {2}acor /m,
    );
    assert.match(text, new RegExp(`^ {2}acor logs ${runId}$`, 'm'));
    assert.match(screen.looks(), /\x1b\[31m✗/);
    screen.enter('clear; acor runs --limit 1');
    await screen.shows(/^state[\s\S]*^✗ failed +says +(?:just now|\d s ago) .*E_TOOL_FAILED: no luck$/m);
  });

  for (const columns of [40, 120]) {
    it(`can be shown afterwards on ${columns} columns`, async () => {
      using other = new TestProject({ config: WITHOUT_SANDBOX });
      other.write('tools/wide/cli.sh', '#!/bin/bash\necho words\nexit 30\n', 0o755);
      other.write('tools/wide/tool.yaml', `name: wide\nversion: 1.0.0\ndescription: ${WIDE}\n`);
      using screen = new TmuxScreen(other, { columns, rows: 60 });
      screen.enter('acor runs; acor decisions; acor list');
      const none = await screen.shows(/漢字かな[\s\S]*\n\$$/, 'history');
      assert.match(
        none.replaceAll(/\s+/g, ' '),
        /No runs to show\. .*: acor run <tool> No questions to show/,
      );
      await other.acor(['run', 'wide']);
      const runId = other.runIds()[0]!;
      let commands = 0;
      for (const [command, shows] of [
        [
          'runs',
          columns === 40
            ? /^✗ failed +wide\n {2}r-\S+\n {2}(?:just now|\d+ s ago), .*\n {2}E_TOOL_FAILED: /
            : /^✗ failed +wide +(?:just now|\d+ s ago) .* r-\S+ +E_TOOL/m,
        ],
        ['list', columns === 40 ? /^description +漢字かな.*\n +\S/m : /^wide +1\.0\.0 .* 漢字かな.*do$/m],
        [`show ${runId}`, /^✗ failed {2}wide 1\.0\.0\n\nrun +r-\S+\n[\s\S]*^why +E_TOOL_FAILED/m],
        ['errors E_TOOL_FAILED', /^code +E_TOOL_FAILED\n[\s\S]*^hint +\S/m],
        ['describe wide', /^acor run wide \[args…\]\n\n漢字/m],
        ['run wide --timeout none', /^✗ E_USAGE: /m],
      ] as const) {
        const typed = `acor ${command}; echo END of $((${++commands}))`;
        screen.enter(typed);
        // With the prompt: keys that come before it are echoed twice.
        const text = await screen.shows(new RegExp(`^END of ${commands}\\n\\$$`, 'm'), 'history');
        const shown = text.slice(text.indexOf(typed) + typed.length, text.lastIndexOf('END of')).trim();
        assert.match(shown, shows);
        assertFits(shown.replaceAll(/^.*\/.*$/gm, ''), columns);
      }
    });
  }

  it('is resized without a torn line, and loses no earlier message', async () => {
    const scripted = script(
      log('the first line'),
      step('copy', 30, WIDE),
      'wait',
      log('the last line'),
      'wait',
      RESULT,
    );
    using screen = new TmuxScreen(project, { columns: 120 });
    screen.enter(scripted.args);
    await screen.shows(/30%/);
    for (const columns of [60, 30, 100]) {
      screen.resize(columns, 20);
      const bar = Math.min(30, Math.max(6, Math.floor(columns / 5)));
      const text = await screen.shows(new RegExp(`^\\S copy {2}[█░]{${bar}} `, 'm'));
      assert.equal(text.match(/30%/g)?.length, 1, text);
      assert.equal(text.match(/the first line/g)?.length, 1, text);
    }
    scripted.go();
    assert.equal((await screen.shows(/the last line/)).match(/30%/g)?.length, 1);
    scripted.go();
    const text = await screen.shows(/completed in/, 'history');
    assert.match(text, /the first line\n│ the last line\n✓ copy/);
    assert.doesNotMatch(text, /30%/);
  });

  it('stops with Ctrl-Z and continues with fg', async () => {
    const scripted = script(step('copy', 30), 'wait', RESULT);
    using screen = new TmuxScreen(project, { columns: 80 });
    screen.enter(scripted.args);
    await screen.shows(/30%/);
    screen.keys('C-z');
    const stopped = await screen.shows(/Stopped/);
    assert.doesNotMatch(stopped, /30%/);
    assert.ok(screen.cursor().isVisible);
    screen.enter('fg');
    await screen.shows(/30%/);
    scripted.go();
    const text = await screen.shows(/✓ completed in/);
    assert.doesNotMatch(text, /30%/);
  });

  it('is cancelled with Ctrl-C, and says what a second one does', async () => {
    const scripted = script(step('copy', 30), 'wait', RESULT);
    using screen = new TmuxScreen(project, { columns: 100 });
    screen.enter(scripted.args);
    await screen.shows(/30%/);
    screen.keys('C-c');
    const text = await screen.shows(/■ cancelled in/);
    assert.match(text, /^■ copy/m);
    assert.ok(screen.cursor().isVisible);
    screen.enter('clear; trap "" TERM; exec bash --norc --noprofile');
    const stubborn = script(step('wait', 50), 'wait', RESULT);
    project.write('tools/stubborn/cli.sh', `#!/bin/bash\ntrap '' TERM\n${SAYS}`, 0o755);
    project.write('tools/stubborn/tool.yaml', 'name: stubborn\nversion: 1.0.0\n');
    project.write('.acor/config.yaml', WITHOUT_SANDBOX.replace('0.3', '60'));
    screen.enter(['acor', 'run', 'stubborn', stubborn.path]);
    await screen.shows(/50%/);
    screen.keys('C-c');
    assert.match(await screen.shows(/stopping: the tool may finish cleanly/), /50%/);
    screen.keys('C-c');
    await screen.shows(/■ cancelled in/);
    project.write('.acor/config.yaml', WITHOUT_SANDBOX);
  });

  it('keeps a dialog intact, and continues below it', async () => {
    const questions = [{ action: 'first', msg: 'Which way?', options: ['left', 'right'] }];
    using screen = new TmuxScreen(project, { columns: 60 });
    screen.enter(['acor', 'run', 'asks_any', '--questions', JSON.stringify(questions)]);
    await screen.shows(/● left/);
    const cursor = screen.cursor();
    const before = screen.text();
    // Longer than a few frames: a footer drawn into the dialog would show.
    for (let frames = 0; frames < 30; frames++) assert.equal(screen.text(), before);
    assert.deepEqual(screen.cursor(), cursor);
    screen.keys('Down', 'Enter');
    const text = await screen.shows(/✓ completed in/);
    assert.match(text, /✓ answer to a-1: "right", by /);
    assert.ok(screen.cursor().isVisible);
  });

  it('is followed by attach and by logs, which can be left while it continues', async () => {
    const scripted = script(log('said before'), step('copy', 30), 'wait', RESULT);
    const running = project.start(scripted.args.slice(1));
    const runId = String((await running.event('progress')).run_id);
    using screen = new TmuxScreen(project, { columns: 100 });
    screen.enter(['acor', 'attach', runId]);
    assert.match(await screen.shows(/30%/), /│ said before/);
    screen.keys('C-c');
    await screen.shows(new RegExp(`run ${runId} continues. Follow it with: acor attach ${runId}`));
    screen.enter('echo code $?; clear');
    screen.enter(['acor', 'logs', runId, '--follow']);
    assert.match(await screen.shows(/30%\n {2}\d:\d\d/), /^\d\d:\d\d:\d\d info: said before$/m);
    screen.keys('C-c');
    screen.enter('echo code $?');
    await screen.shows(/^code 130$/m);
    assert.equal(project.record(runId)!.state, 'running');
    scripted.go();
    assert.equal((await running.finished).code, 0);
  });

  it('with too much output shows its last lines and the number of lines before, and then all of it', async () => {
    const path = project.write('flood', '');
    project.write(
      'tools/floods/cli.sh',
      `#!/bin/bash\nseq 30000\ntouch '${path}.done'\necho "the end"\n`,
      0o755,
    );
    project.write('tools/floods/tool.yaml', 'name: floods\nversion: 1.0.0\nadapter: plain\n');
    using screen = new TmuxScreen(project, { columns: 80 });
    screen.enter(['acor', 'run', 'floods']);
    const history = await screen.shows(/^the end$/m, 'history');
    const runId = project.runIds().at(-1)!;
    const [text = '', answer = ''] = history.split(/^lines +30001$/m);
    assert.ok(text.includes('│ 30000\n│ the end\n'), text.slice(-600));
    assert.match(text.slice(-300), / {2}lines 30001\n✓ completed in/);
    assert.ok(
      answer.includes('\n1\n2\n') && answer.includes('\n29999\n30000\nthe end'),
      'the answer is whole',
    );
    const leftOut = [...text.matchAll(/… (\d+) lines? more: acor logs (\S+) --format text/g)];
    const shown = text.match(/^│ /gm)!.length;
    assert.ok(shown < 20_000, 'most of it was left out');
    assert.equal(leftOut.reduce((sum, [, count]) => sum + Number(count), 0) + shown, 30_001);
    assert.equal(leftOut[0]![2], runId);
  });
});

describe('a run at a terminal', { skip: noTerminal }, () => {
  it('is plain lines where nothing can be redrawn: TERM=dumb, CI', async () => {
    for (const env of [{ TERM: 'dumb' }, { CI: 'true', NO_COLOR: '1' }] as Record<string, string>[]) {
      const scripted = script(log('words'), step('copy', 5), step('copy', 7), step('copy', 55), RESULT);
      const terminal = new Terminal(project, scripted.args.slice(1), { env });
      assert.equal(await terminal.ended, 0);
      assert.doesNotMatch(terminal.raw, /\x1b/);
      assert.match(
        terminal.text,
        /│ words\n● copy {2}5%\n● copy {2}55%\n✓ copy {2}\S+ s\n {2}files 3\n✓ completed/,
      );
    }
  });

  it('of a workflow says once why its step failed', async () => {
    using other = new TestProject({ config: WITHOUT_SANDBOX });
    other.write('tools/breaks/cli.sh', '#!/bin/bash\necho "KeyError: no luck" >&2\nexit 1\n');
    const file = other.write('w.json', '{"steps":[{"name":"one","tool":"breaks"}]}');
    const terminal = new Terminal(other, ['workflow', 'run', file], { env: { TERM: 'dumb' } });
    assert.equal(await terminal.ended, 1);
    assert.equal(terminal.text.split('KeyError: no luck').length, 2, terminal.text);
    assert.match(terminal.text, /^✗ E_TOOL_FAILED: 'one' failed$/m);
  });

  it('has no colour with NO_COLOR, and only ASCII when the locale has no more', async () => {
    const scripted = script(log('words', 'error'), step('copy', 50), 'wait', RESULT);
    const terminal = new Terminal(project, scripted.args.slice(1), { env: { NO_COLOR: '1', LC_ALL: 'C' } });
    await terminal.shows('50%');
    scripted.go();
    assert.equal(await terminal.ended, 0);
    assert.doesNotMatch(terminal.raw, /\x1b\[\d*m/);
    assert.doesNotMatch(terminal.raw, /[^\x00-\x7f]/);
    assert.match(terminal.raw, /\x1b\[J/, 'the control: it was drawn all the same');
    assert.match(terminal.text, /\| error: words\n[\s\S]*##+\.+ {2}50%[\s\S]*\+ completed in/);
  });

  it('is a stream of JSON on a redirected stdout, and draws nothing on the terminal', async () => {
    const scripted = script(step('copy', 50), RESULT);
    const path = project.path('stream');
    const terminal = new Terminal(project, scripted.args.slice(1), { redirect: `>${path}` });
    assert.equal(await terminal.ended, 0);
    assert.equal(terminal.raw, '');
    assert.equal(parseLines(readFileSync(path, 'utf8')).at(-1)!.type, 'runner_end');
  });

  it('is not delayed by a terminal that reads nothing', async () => {
    const scripted = script(
      ...Array.from({ length: 30_000 }, (_, index) => log(`${index} `.padEnd(90, 'x'))),
      RESULT,
    );
    const before = project.runIds().length;
    const terminal = new Terminal(project, scripted.args.slice(1));
    terminal.child.stdout!.pause();
    await until(() => project.runIds().length > before);
    const runId = project.runIds().at(-1)!;
    await until(() => project.record(runId)?.state === 'completed');
    assert.equal(terminal.child.exitCode, null, 'it is stuck in the middle of what it shows');
    terminal.child.stdout!.resume();
    assert.equal(await terminal.ended, 0);
    assert.match(terminal.text, /✓ completed in/);
  });

  it('leaves a terminal with a visible cursor when it is killed', async () => {
    const scripted = script(step('copy', 50), 'wait', RESULT);
    const terminal = new Terminal(project, scripted.args.slice(1));
    await terminal.shows('50%');
    const { pid } = project.record(project.runIds().at(-1)!)!;
    process.kill(pid, 'SIGKILL');
    await terminal.ended;
    assert.doesNotMatch(terminal.raw, /\x1b\[\?25l/);
    assert.equal(terminal.raw.split('\x1b[?7l').length, terminal.raw.split('\x1b[?7h').length);
  });
});
