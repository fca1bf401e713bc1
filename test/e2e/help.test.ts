import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { displayWidth } from '../../src/compose/display-width.ts';
import { findCommand } from '../../src/compose/find-command.ts';
import { commandHelp } from '../../src/compose/help.ts';
import { ROUTES } from '../../src/operations/index.ts';
import { parseLines, TestProject } from '../support/project.ts';

let project: TestProject;
before(() => {
  project = new TestProject({ tools: ['quick', 'shows_environment'] });
  const inputs = [
    {
      name: 'files',
      type: 'path',
      positional: true,
      multiple: true,
      required: true,
      description: 'What to count.',
    },
    { name: 'unit', enum: ['lines', 'words'], default: 'lines' },
    { name: 'limit', type: 'int', description: 'The tool’s own limit.' },
  ];
  project.write(
    'tools/counter/tool.yaml',
    JSON.stringify({
      name: 'counter',
      description: 'Counts.\n\nFlags\n  --evil',
      inputs,
      examples: [{ args: ['a b.txt'] }],
    }),
  );
  project.write(
    'tools/counter/cli.sh',
    '#!/bin/bash\necho "{\\"type\\":\\"result\\",\\"status\\":\\"ok\\",\\"data\\":\\"$*\\"}"\n',
    0o755,
  );
  project.write(
    'tools/anything/cli.sh',
    '#!/bin/bash\necho "{\\"type\\":\\"result\\",\\"status\\":\\"ok\\",\\"data\\":\\"$*\\"}"\n',
    0o755,
  );
  project.write('a.txt', 'a\n');
});
after(() => project[Symbol.dispose]());

describe('global flags after the name of a tool', () => {
  it('belong to ACOR when the tool declares none of that name', async () => {
    const { data } = await project.envelope([
      'run',
      'counter',
      'a.txt',
      '--no-stream',
      '--fields',
      'state,result.data',
    ]);
    assert.deepEqual(Object.keys(data), ['state', 'result']);
    assert.doesNotMatch(data.result.data, /fields/);
    const { stdout } = await project.acor(['run', 'anything', '--no-stream', '--toon', '--fields=state']);
    assert.match(stdout, /^ok: true\ndata:\n {2}state: completed\n/);
    const elsewhere = await project.envelope(
      ['run', 'counter', 'a.txt', '--no-stream', '--cwd', project.root],
      { cwd: '/' },
    );
    assert.equal(elsewhere.error?.code ?? elsewhere.data.state, 'completed');
  });

  it('belong to the tool when it declares them, and after --', async () => {
    const own = await project.envelope(['run', '--no-stream', 'counter', 'a.txt', '--limit', '3']);
    assert.match(own.data.result.data, /--limit 3/);
    const behind = await project.envelope([
      'run',
      '--no-stream',
      'anything',
      '--',
      '--fields',
      'x',
      '--help',
    ]);
    assert.equal(behind.data.result.data, '--fields x --help');
  });

  it('are rejected when they are repeated or make no sense, and nothing starts', async () => {
    const before = project.runIds().length;
    for (const args of [
      ['run', '--limit', '1', 'anything', '--limit', '2'],
      ['run', 'anything', '--limit', 'x'],
      ['run', 'anything', '--fields'],
    ]) {
      const { code, error } = await project.envelope(args);
      assert.deepEqual([code, error.code], [1, 'E_USAGE'], args.join(' '));
    }
    assert.equal(project.runIds().length, before);
  });
});

describe('the help of a tool', () => {
  it('is shown by --help: its example first, its inputs, and none of its texts as a line of ACOR', async () => {
    const before = project.runIds();
    for (const args of [
      ['run', 'counter', '--help'],
      ['help', 'run', 'counter'],
      ['run', '--help', 'counter'],
    ]) {
      const { stdout, code } = await project.acor(args);
      assert.equal(code, 0);
      assert.match(stdout, /^Example\n {2}acor run counter 'a b\.txt'\n/);
      assert.match(stdout, /<files> +What to count\. \(may be repeated; required\)/);
      assert.match(stdout, /--unit <string> +\(one of lines, words; default lines\)/);
      assert.equal(stdout.match(/^Flags$/gm)?.length, 1);
    }
    assert.deepEqual(project.runIds(), before);
  });

  it("of a tool without inputs explains how to reach the tool's own help, without running it", async () => {
    const before = project.runIds().length;
    const { stdout } = await project.acor(['run', 'anything', '--help']);
    assert.match(stdout, /acor run anything -- --help/);
    assert.equal(project.runIds().length, before);
    const { error } = await project.envelope(['run', 'anythin', '--help']);
    assert.equal(error.code, 'E_TOOL_NOT_FOUND');
  });
});

describe('help on a narrow screen', () => {
  for (const width of [40, 80]) {
    it(`wraps at ${width} columns, except commands to copy`, async () => {
      const screen = { width, color: false, unicode: true, live: false };
      const { stdout } = await project.acor(['--help'], { env: { COLUMNS: String(width) } });
      const pages = [stdout];
      for (const { command, load } of ROUTES)
        pages.push(commandHelp(await load(), `acor ${command}`, screen));
      for (const page of pages) {
        let title = '';
        for (const line of page.split('\n')) {
          if (/^\S/.test(line)) title = line;
          if (/^(Examples?|Usage|More)$/.test(title) || !line.trim().includes(' ')) continue;
          assert.ok(displayWidth(line) <= width, line);
        }
      }
      assert.equal(/\n {6}\S/.test(pages.join('')), width === 40);
    });
  }
});

describe('a suggestion for a mistyped word', () => {
  it('is made for commands, flags, tools, values and runs, with the corrected command', async () => {
    const { stdout } = await project.acor(['run', 'quick']);
    const runId = String(parseLines(stdout)[0]!.run_id);
    for (const [args, expected, next] of [
      [['rnu', 'quick'], /acor run\?/, 'acor run --help'],
      [['config', 'sho'], /config show/, 'acor config show --help'],
      [['runs', '--tol', 'x'], /--tool/, 'acor runs --help'],
      [['runs', '--state', 'complete'], /completed/, 'acor runs --help'],
      [['run', 'quik'], /'quick'/, 'acor describe quick'],
      [['run', 'counter', 'a.txt', '--unti', 'words'], /--unit/, 'acor describe counter'],
      [['run', 'counter', 'a.txt', '--unit', 'word'], /words/, 'acor describe counter'],
      [['show', runId.slice(0, 10)], new RegExp(runId), `acor show ${runId}`],
      [
        ['wait', `${runId.slice(0, -1)}_`.replace('_', runId.endsWith('0') ? '1' : '0')],
        new RegExp(runId),
        `acor show ${runId}`,
      ],
      [['explain', '--topic', 'eror'], /errors/, 'acor explain --topic errors'],
      [['tools', 'run.strat'], /run\.start/, 'acor tools --help'],
    ] as const) {
      const { error, meta } = await project.envelope([...args]);
      assert.match(error.hint, expected, args.join(' '));
      assert.ok(meta.next.includes(next), `${args.join(' ')}: ${meta.next}`);
    }
  });
});

describe('the manual page', () => {
  const page = readFileSync(new URL('../../man/acor.1', import.meta.url), 'utf8');

  it('has every command with its example, in plain ASCII', async () => {
    for (const { command, load, hidden } of ROUTES) {
      if (hidden) continue;
      const op = await load();
      assert.ok(page.includes(`.SS "acor ${command.replaceAll('-', '\\-')}"`), command);
      assert.ok(
        page.includes(op.example.split(' ', 3).join(' ').replaceAll('-', '\\-').replaceAll("'", '\\(aq')),
        command,
      );
    }
    assert.doesNotMatch(page, /[^\x00-\x7f]/);
  });

  const skip = spawnSync('groff', ['--version']).status === 0 ? false : 'groff is not here';
  it('is accepted by groff without a warning', { skip }, () => {
    const { stderr, status } = spawnSync('groff', ['-man', '-Tutf8', '-ww', '-z'], {
      input: page,
      encoding: 'utf8',
    });
    assert.deepEqual([status, stderr], [0, '']);
    const broken = spawnSync('groff', ['-man', '-Tutf8', '-ww', '-z'], {
      input: `${page}\n.nosuch`,
      encoding: 'utf8',
    });
    assert.match(broken.stderr, /nosuch/);
  });
});

describe('the first page of help', () => {
  it('fits a screen, and every line of it is a command that exists', async () => {
    const { stdout } = await project.acor(['--help'], { env: { COLUMNS: '80' } });
    assert.ok(stdout.split('\n').length <= 30, stdout);
    const commands = stdout.match(/^ {2}acor \S.*?(?= {2})/gm) ?? [];
    assert.ok(commands.length > 15, stdout);
    for (const command of commands) {
      const argv = command.trim().split(' ').slice(1);
      if (argv[0] !== 'help') assert.ok(findCommand(ROUTES, argv).route !== undefined, command);
    }
    assert.match((await project.acor(['help', 'all'])).stdout, /^ {2}workflow validate /m);
    assert.equal((await project.envelope(['help', 'foo'])).error.code, 'E_USAGE');
  });
});

describe('what people type out of habit', () => {
  it('is understood: aliases, last, and durations with a unit', async () => {
    const { stdout } = await project.acor(['run', 'quick', '--timeout', '5m']);
    const [started] = parseLines(stdout);
    assert.equal(started!.timeout_s, 300);
    assert.equal((await project.envelope(['ls'])).meta.tool, 'tool.list');
    assert.equal((await project.envelope(['ps'])).meta.tool, 'run.list');
    assert.equal((await project.envelope(['doctor'])).meta.tool, 'system.health');
    assert.equal((await project.envelope(['-v'])).meta.tool, 'system.version');
    for (const args of [['show'], ['show', 'last'], ['logs'], ['wait', 'last']])
      assert.equal((await project.envelope(args)).data.run_id, started!.run_id, args.join(' '));
    const asked = await project.envelope(['run', 'quick', '--timeout', '5 minutes']);
    assert.match(asked.error.message, /--timeout must be a duration, such as 90s, 5m, 1h or 7d/);
  });

  it('removes one run, and clean without a rule says what the usual rules would do', async () => {
    await project.acor(['run', 'quick']);
    const { data } = await project.envelope(['rm', 'last', '--dry-run']);
    assert.ok(project.runIds().includes(data.removed[0]));
    assert.deepEqual((await project.envelope(['runs', 'rm', data.removed[0]])).data.removed, data.removed);
    assert.ok(!project.runIds().includes(data.removed[0]));
    const { error } = await project.envelope(['clean']);
    assert.match(error.hint, /--keep 20 would remove about 0, --older-than 30d about 0\./);
  });
});
