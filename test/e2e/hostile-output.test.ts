import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ROUTES } from '../../src/operations/index.ts';
import { dataFolder, parseLines, TestProject } from '../support/project.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { atTerminal } from '../support/terminal.ts';

/** Sequences that a terminal executes, and characters that hide or reorder text. Each begins with a character of OBEYED. */
const WEAPONS = [
  '\x1b]0;PWNED\x07',
  '\x1b]8;;http://evil.example/\x1b\\link\x1b]8;;\x1b\\',
  '\x1b]52;c;UFdORUQ=\x07',
  '\x1b[2J\x1b[H',
  '\x1b[35mred',
  '\x1bP+q544e\x1b\\',
  '\x1b_Gf=24\x1b\\',
  '\x1bc',
  '\x1b',
  '\x9b2J',
  '\x9d0;PWNED\x9c',
  '\x90q\x9c',
  '\x85',
  '\r',
  '\rdone',
  '\b\b\b\b',
  '\x07',
  '\x7f',
  '\x0b\x0c',
  '\u202egnp.exe',
  '\u2066x\u2069',
  '\u200f',
  '\u2028',
  '\u200b',
  '\u{e0041}\u{e0042}',
  '\ufeff',
] as const;

/** Stand around each weapon in untrusted text, so that a weapon can be found also where ACOR draws with sequences of its own. */
const OPEN = 'ZzQ';
const CLOSE = 'QzZ';

/** A character that a terminal obeys. */
const OBEYED =
  /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]|\r(?!\n)/u;

/** The sequences that ACOR itself writes: styles, and the drawing and erasing of the lines below a run. */
const OWN = /\x1b\[(?:1|2|22|31|32|33|34|36|39|90)m|\x1b\[\?7[lh]|\r(?:\x1b\[\d{1,2}A)?\x1b\[J/g;

/** The start of a prompt: it hides the cursor once. After that, the prompt library moves the cursor, erases, and uses its own styles. */
const PROMPT = '\x1b[?25l';
const OF_PROMPT = /\x1b\[(?:\?25[lh]|\d{0,3}(?:;\d{1,3})?[ABCDGJKm])/g;

/** Commands that wait for a client instead of ending. */
const ELSEWHERE: readonly string[] = ['mcp', 'serve'];

/** A text without the sequences of the prompt at its end. */
function withoutPrompt(text: string): string {
  const at = text.lastIndexOf(PROMPT);
  return at === -1 ? text : text.slice(0, at) + text.slice(at).replace(OF_PROMPT, '');
}

/**
 * Finds a weapon of untrusted text in what a terminal received; returns it with its surroundings. Unlike `withoutPrompt` it removes no
 * sequences that a weapon could be, so that it sees a weapon also while the prompt library draws: it looks between and beside the marks.
 */
function weaponIn(text: string): string | undefined {
  const { source } = OBEYED;
  const shown = text.replace(WRAPPED, '\n');
  const beside = new RegExp(`${OPEN}(?:${source})|(?:${source})${CLOSE}`, 'u').exec(shown)?.index;
  const between = [...shown.matchAll(new RegExp(`${OPEN}((?:(?!${OPEN}).)*?)${CLOSE}`, 'gsu'))].find(
    ([, inner]) => OBEYED.test(inner!),
  )?.index;
  const at = beside ?? between;
  return at === undefined ? undefined : shown.slice(Math.max(0, at - 40), at + 80);
}

/** A line break that ACOR or the prompt library put into a text: the styles before and behind it, none of which is a weapon, and a bar. */
const WRAPPED =
  /(?:\x1b\[(?:[0-247]|2[247]|3[1-46-9]|9\d)m)*\r?\n(?:\x1b\[(?:[0-247]|2[247]|3[1-46-9]|9\d)m|[│ ])*/g;

describe('untrusted text', () => {
  for (const [seed, terminal] of [
    [1, { TERM: 'dumb', NO_COLOR: '1' }],
    [2, { TERM: 'xterm', COLUMNS: '300' }],
  ] as const) {
    describe(`at a terminal '${terminal.TERM}', with weapons by seed ${seed}`, () => {
      let project: TestProject;
      let root: string;
      let runId: string;
      const random = new SeededRandom(seed);
      const hostile = () =>
        Array.from(
          { length: 3 },
          () => `${OPEN}${random.pick(WEAPONS)}${CLOSE}${random.pick(['a', ' ', '', '\n', '漢'])}`,
        ).join('');

      before(async () => {
        project = new TestProject();
        root = project.path(`p${OPEN}${random.pick(WEAPONS).replaceAll('/', '')}${CLOSE}q`);
        mkdirSync(root);
        const write = (path: string, text: string, mode?: number) =>
          project.write(join(root.slice(project.root.length), path), text, mode);
        // JSON is YAML, and keeps every character.
        write('.acor/config.yaml', JSON.stringify({ project: { name: hostile() } }));
        const info = { class: 'user_error', retryable: false, action: hostile(), hint: hostile() };
        write('.acor/error_codes.yaml', JSON.stringify({ version: 1, codes: { E_EVIL: info } }));
        const manifest = {
          name: 'evil',
          version: '1.0.0',
          description: hostile(),
          category: hostile(),
          actions: [hostile()],
          secrets: ['KEY'],
          exit_codes: { ok: 0, [`fatal${hostile()}`]: 30 },
          permissions: {
            // The manifest check rejects paths with control characters.
            filesystem: { read: [`/srv/${hostile().replaceAll(/\p{Cc}/gu, '')}`] },
            commands: [hostile()],
          },
          examples: [{ description: hostile(), args: [hostile()] }],
          env: { set: { X: hostile() } },
        };
        write('tools/evil/tool.yaml', JSON.stringify(manifest));
        write(
          'tools/evil/cli.sh',
          `#!/bin/bash\ncat "$(dirname "$0")/lines"; cat "$(dirname "$0")/lines" >&2\ncp "$(dirname "$0")/lines" "$ARTIFACTS_DIR/$(printf %b '${'\\x1b[35mx\\x9b'}')"\nexit 30\n`,
          0o755,
        );
        write('tools/evil/lines', linesOf(hostile).join('\n'));
        write(
          'tools/quiet/tool.yaml',
          JSON.stringify({ ...manifest, name: 'quiet', actions: [], permissions: {} }),
        );
        write('tools/quiet/cli.sh', `#!/bin/bash\ncat "$(dirname "$0")/lines"\n`, 0o755);
        write('tools/quiet/lines', linesOf(hostile, 'result').join('\n'));
        write(
          'tools/root/tool.yaml',
          JSON.stringify({ ...manifest, name: 'root', permissions: { level: 'privileged' } }),
        );
        write('tools/root/cli.sh', '#!/bin/bash\n', 0o755);
        write(
          'tools/broken/tool.yaml',
          JSON.stringify({ name: 'broken', [hostile()]: hostile(), timeout_s: hostile() }),
        );
        write('tools/broken/cli.sh', '#!/bin/bash\n', 0o755);
        write(`tools/${hostile().replaceAll('/', '')}/cli.sh`, '#!/bin/bash\n', 0o755);
        const step = (name: string) => ({
          name,
          tool: hostile(),
          when: `\${${JSON.stringify(hostile())} == "x"}`,
        });
        write(
          '.acor/workflows/flow.json',
          JSON.stringify({ description: hostile(), steps: [step('a'), step('b')] }),
        );
        write('.acor/workflows/bad.json', JSON.stringify({ [hostile()]: 1, steps: [step(hostile())] }));
        write(`workflows/${hostile().replaceAll('/', '')}.json`, JSON.stringify({ steps: [step('a')] }));
        write(
          'helping',
          `#!/bin/bash\ncat <<'END'\n${hostile()}\nUsage: x [-v] FILE ${hostile()}\n  -v, --verbose  ${hostile()}\n  --x=${hostile()}  x\n  --y Y ${hostile()}\nEND\n`,
          0o755,
        );
        // The same folder for data as commands at a terminal use.
        const inRoot = { cwd: root, env: dataFolder(root) };
        await project.acor(['secret', 'set', 'KEY'], { ...inRoot, stdin: 'correct horse' });
        await project.acor(['run', 'quiet', hostile()], inRoot);
        const ran = await project.acor(['run', 'evil', hostile()], inRoot);
        runId = String(parseLines(ran.stdout).find(({ run_id }) => typeof run_id === 'string')?.run_id);
        assert.match(runId, /^r-/, ran.stdout);
      });
      after(() => project[Symbol.dispose]());

      it('reaches the terminal unescaped through cat (the control of the following tests)', async () => {
        const { text } = await atTerminal([], {
          cwd: root,
          command: ['cat', 'tools/evil/tool.yaml', 'tools/evil/lines'],
        });
        assert.match(text, OBEYED);
        assert.notEqual(weaponIn(text), undefined);
      });

      it('is found in a prompt, too, one weapon at a time (the control of the check itself)', () => {
        for (const weapon of WEAPONS) {
          const prompt = (inner: string) =>
            `${PROMPT}\x1b[36m◆\x1b[39m  ${OPEN}${inner}${CLOSE}\x1b[2K\r\n\x1b[J`;
          assert.notEqual(weaponIn(prompt(weapon)), undefined, JSON.stringify(weapon));
          assert.notEqual(weaponIn(prompt(`x${weapon}x`)), undefined, JSON.stringify(weapon));
          assert.equal(weaponIn(prompt(JSON.stringify(weapon).replaceAll(/[^\x20-\x7e]/gu, '?'))), undefined);
        }
      });

      for (const { command, hidden } of ROUTES) {
        if (hidden || ELSEWHERE.includes(command)) continue;
        it(`does not reach the terminal through '${command}'`, async () => {
          for (const args of callsOf(command, runId, hostile())) await assertSafe(args, terminal);
        });
      }

      it('is escaped in JSON events at a terminal, and parses to the same events', async () => {
        const piped = await project.acor(['logs', runId, '--follow'], { cwd: root });
        assert.match(
          piped.stdout,
          /[\x7f-\x9f\u202e\u2066\u2028]/,
          'the control: a pipe gets the raw characters',
        );
        for (const args of [
          ['logs', runId, '--follow', '--json'],
          ['attach', runId, '--json'],
          ['replay', runId, '--at-once', '--json'],
        ]) {
          const { text } = await atTerminal(args, { cwd: root });
          const shown = text.replaceAll('\r\n', '\n');
          assert.doesNotMatch(shown, /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2066\u2028]/);
          assert.deepEqual(parseLines(shown), parseLines(piped.stdout));
        }
      });

      it('does not reach the terminal through an invalid policy file or configuration', async () => {
        const inRoot = root.slice(project.root.length);
        for (const [file, text] of [
          ['.acor/policy.yaml', { commands: [hostile()], filesystem: { read: ['/none'] } }],
          ['.acor/policy.yaml', { [hostile()]: 1, commands: hostile() }],
          ['.acor/config.yaml', { [hostile()]: 1, project: { name: 7 } }],
        ] as const) {
          project.write(join(inRoot, file), JSON.stringify(text));
          for (const args of [
            ['health'],
            ['policy', 'check', 'evil'],
            ['run', 'evil'],
            ['describe', 'evil', '--permissions'],
          ])
            await assertSafe(args, { TERM: 'xterm', COLUMNS: '300' });
        }
      });

      async function assertSafe(args: readonly string[], env: Record<string, string>): Promise<void> {
        const shown = await atTerminal(args, { cwd: root, env });
        assert.notEqual(shown.code, null, `${JSON.stringify(args)} hung`);
        const text = new TextDecoder('utf-8', { fatal: true }).decode(shown.bytes);
        assert.notEqual(text, '', JSON.stringify(args));
        assert.equal(weaponIn(text), undefined, JSON.stringify(args));
        const foreign = env.TERM === 'dumb' ? text : withoutPrompt(text).replace(OWN, '');
        const at = foreign.search(OBEYED);
        assert.equal(
          at,
          -1,
          `${JSON.stringify(args)}: ${JSON.stringify(foreign.slice(Math.max(0, at - 80), at + 80))}`,
        );
      }
    });
  }

  it('cannot forge a line that looks like one of the runner', async () => {
    using project = new TestProject();
    const lie = '\ncompleted in 0.1 s\nwarning: all is well';
    const lines = [
      { type: 'log', level: 'info', msg: `x${lie}` },
      { type: 'progress', step: `x${lie}`, pct: 5 },
      { type: 'error', code: 'E_EVIL', msg: `x${lie}`, hint: `x${lie}` },
    ];
    project.write('tools/liar/cli.sh', `#!/bin/bash\ncat "$(dirname "$0")/lines"\nexit 1\n`, 0o755);
    project.write('tools/liar/lines', `${lines.map((each) => JSON.stringify(each)).join('\n')}\n`);
    const { text, code } = await atTerminal(['run', 'liar'], { cwd: project.root });
    assert.equal(code, 1);
    assert.match(text, /^│ completed in 0\.1 s\r$/m);
    assert.doesNotMatch(text, /^(?:✓ |! )?(?:completed in|warning: all)/m);
    assert.match(text, /^✗ failed in/m);
  });
});

/** A message of each kind, with hostile text in every field. */
function linesOf(hostile: () => string, ending = 'error'): string[] {
  const messages = [
    { type: 'start', step: hostile(), msg: hostile() },
    { type: 'log', level: 'info', msg: hostile(), [hostile()]: hostile() },
    { type: 'progress', step: hostile(), pct: 5, msg: hostile() },
    { type: hostile(), [hostile()]: { [hostile()]: [hostile()] } },
    {
      type: 'action_required',
      action: hostile(),
      action_id: hostile(),
      context: { [hostile()]: hostile() },
      options: [{ id: hostile(), label: hostile(), description: hostile() }],
      msg: hostile(),
    },
    ending === 'error'
      ? { type: 'error', code: `E_${hostile()}`, msg: hostile(), hint: hostile(), context: hostile() }
      : { type: 'result', status: hostile(), metrics: { [hostile()]: 1 }, data: { [hostile()]: hostile() } },
  ];
  // The last two lines are not JSON, so they have the raw characters.
  return [...messages.map((each) => JSON.stringify(each)), hostile(), `{${hostile()}`];
}

/** Calls of a command that show as much as possible. */
function callsOf(command: string, runId: string, word: string): string[][] {
  const words = command.split(' ');
  const own: Record<string, string[][]> = {
    adopt: [['./helping', '--dry-run'], ['./helping', '--output', 'adopted'], [word]],
    answer: [[runId, '--value', '1'], [word]],
    approve: [['root'], ['--list'], [word]],
    clean: [['--keep', '0', '--dry-run']],
    complete: [['bash'], [word]],
    'config show': [[], [word]],
    'workflow graph': [
      ['flow'],
      ['flow', '--format', 'mermaid'],
      ['flow', '--format', 'dot'],
      ['bad'],
      [word],
    ],
    'plugins list': [[]],
    'workflow list': [[]],
    'workflow resume': [[runId], [word]],
    'workflow run': [['flow', '--dry-run'], ['bad'], [word]],
    'workflow template': [['--dry-run'], ['--name', word]],
    'workflow validate': [[], ['bad'], [word]],
    describe: [
      ['evil'],
      ['evil', '--manifest'],
      ['evil', '--permissions'],
      ['root', '--permissions'],
      ['broken'],
      [word],
    ],
    errors: [[], ['E_EVIL'], [word]],
    explain: [
      [],
      ['--format', 'markdown'],
      ['--topic', 'tools', '--format', 'markdown'],
      ['--topic', 'tool:evil', '--format', 'markdown', '--include-examples'],
      ['--topic', 'errors'],
      ['--topic', 'security'],
      ['--topic', word],
    ],
    init: [[], ['--from-existing', '--dry-run'], ['--template', word]],
    list: [[], ['--format', 'table']],
    logs: [[runId], [runId, '--format', 'text'], [runId, '--type', 'error'], [word]],
    'policy check': [['evil'], ['root'], [word]],
    resume: [[runId], [word]],
    retry: [[runId], [word]],
    run: [
      ['quiet', word],
      ['evil', '--help'],
      ['evil', '--detach'],
      ['evil', '--dry-run'],
      ['root'],
      ['broken'],
      [word],
    ],
    'secret delete': [[word]],
    'secret set': [[word]],
    template: [
      ['bash', '--name', 'safe', '--dry-run'],
      ['bash', '--name', 'evil'],
      ['bash', `--output=${word}`, '--dry-run'],
      [word],
    ],
    tools: [[], [word]],
  };
  return (own[command] ?? (TAKE_A_RUN.includes(command) ? [[runId], [word]] : [[]])).map((args) => [
    ...words,
    ...args,
  ]);
}

const TAKE_A_RUN = ['artifacts', 'attach', 'cancel', 'decisions', 'show', 'verify', 'wait'];
