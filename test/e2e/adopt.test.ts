import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { manifestFile } from '../../src/protocol/manifest.ts';
import { TestProject } from '../support/project.ts';

type Draft = { name: string; file: string; inputs: number; manifest?: string; command: string[] };

/** Harm that a program must not do when ACOR runs it for its help; each attempt is recorded for the test. */
const HARMFUL = `#!/bin/bash
echo "Usage: harmful [-v] [FILE]"
echo "  -v, --verbose   say more"
echo harm > "$(dirname "$0")/harm" 2>/dev/null && echo "  --harm-wrote    x"
echo harm > /tmp/acor-adopt-harm 2>/dev/null && [ -e /tmp/acor-adopt-harm ] && echo "  --harm-temp     x"
(exec 3<>/dev/tcp/127.0.0.1/PORT) 2>/dev/null && echo "  --harm-network  x"
read -r line && echo "  --harm-input    x"
[ -n "$SECRET_OF_CALLER" ] && echo "  --harm-env      x"
exit 0
`;

describe('acor adopt', () => {
  it('makes tools of installed programs, and they run in the sandbox', async () => {
    using project = new TestProject();
    for (const [program, least] of [
      ['sort', 25],
      ['grep', 40],
      ['tar', 120],
      ['perl', 20],
      ['gzip', 15],
    ] as const) {
      const { ok, data, meta, error } = await project.envelope(['adopt', program]);
      assert.ok(ok, JSON.stringify(error));
      const [draft] = data.drafts as Draft[];
      assert.ok(draft!.inputs >= least, `${program}: ${draft!.inputs}`);
      assert.deepEqual(data.asked, [[program, '--help']]);
      assert.notEqual(data.isolation, 'none');
      const text = readFileSync(draft!.file, 'utf8');
      // A call without a required input would be refused.
      const isReady = parse(text).inputs.every(({ required }: { required?: boolean }) => required !== true);
      assert.deepEqual(meta.next, [
        'acor validate',
        `acor describe ${program}`,
        ...(isReady ? [`acor run ${program} --dry-run`, `acor learn ${program}`] : []),
      ]);
      assert.match(text, /^# DRAFT: .* '/m);
      assert.deepEqual(manifestFile.safeParse(parse(text)).error?.issues ?? [], []);
    }
    const { data: list } = await project.envelope(['list']);
    assert.deepEqual(
      list.tools.map((tool: { name: string; problems: unknown[] }) => [tool.name, tool.problems ?? []]),
      ['grep', 'gzip', 'perl', 'sort', 'tar'].map((name) => [name, []]),
    );
    project.write('words.txt', 'b 2\na 10\nc 1\n');
    const sorted = await project.run([
      'sort',
      '--key',
      '2',
      '--numeric-sort',
      '--output',
      'sorted.txt',
      'words.txt',
    ]);
    assert.equal(sorted.end.state, 'completed', JSON.stringify(sorted.events));
    assert.equal(readFileSync(project.path('sorted.txt'), 'utf8'), 'c 1\nb 2\na 10\n');
    const found = await project.run(['grep', '--max-count', '1', '--ignore-case', 'B', 'words.txt']);
    assert.deepEqual(
      found.of('log').map(({ msg }) => msg),
      ['b 2'],
    );
  });

  it('drafts what passes the strict check and the self-test, says which files it finds, and offers no refused call', async () => {
    using project = new TestProject();
    const { data } = await project.envelope(['adopt', 'sort']);
    assert.match(data.drafts[0].files, /only the files and folders that its inputs of type path name/);
    const checked = await project.envelope(['validate', 'sort', '--strict', '--selftest']);
    assert.deepEqual([checked.ok, checked.data?.findings], [true, []]);
    const usage = '#!/bin/sh\n[ "$1" = --help ] && echo "Usage: needs [--fast] FILE" && exit 0\ncat "$1"\n';
    project.write('tools/needs/cli.sh', usage, 0o755);
    const { meta } = await project.envelope(['adopt', 'tools/needs/cli.sh']);
    assert.deepEqual(meta.next, ['acor validate', 'acor describe needs']);
    assert.match((await project.envelope(['run', 'needs', '--dry-run'])).error.message, /'FILE' is required/);
  });

  it('makes inputs of the operands of date and env, and reports the one that it cannot read', async () => {
    using project = new TestProject();
    const { data } = await project.envelope(['adopt', 'date']);
    assert.deepEqual(data.drafts[0].not_understood, ['MMDDhhmm[[CC]YY][.ss]']);
    const year = await project.envelope(['run', 'date', '--no-stream', '--utc', '--date', '@0', '+%Y']);
    assert.equal(year.data?.result.data.output, '1970', JSON.stringify(year.error));
    assert.match((await project.envelope(['run', 'date', '%Y'])).error.message, /FORMAT/);
    await project.envelope(['adopt', 'env']);
    const shown = await project.envelope(['run', 'env', '--no-stream', '--ignore-environment', 'A=1', 'B=2']);
    assert.equal(shown.data?.result.data.output, 'A=1\nB=2', JSON.stringify(shown.error));
  });

  it('keeps the short spelling of an option: calls, help and the manifest have it', async () => {
    using project = new TestProject();
    await project.acor(['adopt', 'sort']);
    project.write('names.txt', 'b\na\n');
    const { data } = await project.envelope(['run', 'sort', '-r', 'names.txt', '--no-stream']);
    assert.deepEqual(data.result.data, { output: 'b\na' });
    const { stdout } = await project.acor(['run', 'sort', '--help']);
    assert.match(stdout, /^ +-r, --reverse /m);
  });

  it('names for a self-test that fails its call, and no flag that the program does not know', async () => {
    using project = new TestProject();
    project.write(
      'tools/plain/tool.yaml',
      'name: plain\nversion: 1.0.0\ndescription: A program.\ncommand: [cat]\nadapter: plain\n',
    );
    const { data } = await project.envelope(['validate', 'plain']);
    const { fix } = data.findings.find(({ rule }: { rule: string }) => rule === 'no-selftest');
    assert.match(fix, /\["--version"\]/);
    project.write(
      'tools/plain/tool.yaml',
      'name: plain\nversion: 1.0.0\ncommand: [cat]\nadapter: plain\nhealth: { selftest: ["--no-such"] }\n',
    );
    const { error } = await project.envelope(['validate', 'plain', '--selftest']);
    const failed = error.details.findings.find(({ rule }: { rule: string }) => rule === 'selftest');
    assert.match(failed.fix, /The self-test is the call 'plain --no-such'.*under health\.selftest/);
  });

  it('asks curl for the help of every option, and finds in its manual page what may be repeated', {
    skip: existsSync('/usr/bin/curl') ? false : 'needs curl',
  }, async () => {
    using project = new TestProject();
    const { data } = await project.envelope(['adopt', '/usr/bin/curl', '--dry-run']);
    assert.deepEqual(data.asked, [
      ['curl', '--help'],
      ['curl', '--help', 'all'],
    ]);
    const { inputs } = parse(data.drafts[0].manifest) as { inputs: Record<string, unknown>[] };
    const named = (name: string) => inputs.find((each) => each['name'] === name);
    assert.ok(named('request') && named('location')?.['type'] === 'bool' && named('header'));
    assert.match(data.drafts[0].manifest, /generated from the help of 'curl --help all'/);
    if (existsSync('/usr/share/man/man1/curl.1.gz')) assert.equal(named('header')!['multiple'], true);
  });

  it('reads the manual page of git log, and names it as the source of an input', {
    skip: existsSync('/usr/share/man/man1/git-log.1.gz') ? false : 'needs the manual page git-log(1)',
  }, async () => {
    using project = new TestProject();
    const { data } = await project.envelope(['adopt', '/usr/bin/git', 'log', '--dry-run']);
    const page = data.drafts[0].sources.find(
      ({ source }: { source: string }) => source === 'the manual page git-log(1)',
    );
    for (const name of ['max_count', 'oneline', 'author', 'committer'])
      assert.ok(page.inputs.includes(name), name);
    assert.deepEqual(
      data.drafts[0].offered.map(({ key, value }: { key: string; value: unknown }) => [key, value]),
      [['cwd', 'project']],
    );
    assert.match(data.drafts[0].manifest, /^# cwd: project$/m);
    assert.match(data.drafts[0].manifest, /# From the manual page git-log\(1\)\.\n {2}- name: max_count\n/);
  });

  it('makes one tool for each subcommand, and passes only words that ask for help', async () => {
    using project = new TestProject();
    const path = project.write(
      'programs/many',
      `#!/bin/bash
echo "$*" >&2
case "$*" in
  --help) echo "Usage: many <command>"; echo; echo "Commands:"; for c in add remove rm group broken; do echo "  $c   Does $c."; done ;;
  "add --help") printf 'Usage: many add [options] <file>\\n\\n  -n, --name NAME   a name\\n' ;;
  "remove --help" | "rm --help") printf 'Usage: many remove [options]\\n\\n  -f, --force   at once\\n' ;;
  "group --help") printf 'Usage: many group <command>\\n\\nCommands:\\n  list   Lists.\\n' ;;
  "group list --help") printf 'Usage: many group list [options]\\n\\n  -a, --all   all\\n' ;;
  *) echo "many: unknown option $*"; exit 1 ;;
esac
`,
      0o755,
    );
    const { data } = await project.envelope(['adopt', path, '--recursive', '--depth', '2']);
    const drafts = data.drafts as Draft[];
    assert.deepEqual(drafts.map(({ name }) => name).sort(), ['many-add', 'many-group-list', 'many-remove']);
    assert.deepEqual(
      data.passed_over.map(({ command, why }: { command: string[]; why: string }) => [
        command.join(' '),
        why,
      ]),
      [
        ['many rm', 'its help equals that of another command'],
        ['many broken', 'it printed no usable help'],
      ],
    );
    for (const [, ...args] of data.asked as string[][])
      assert.ok(['--help', '-h'].includes(args.at(-1)!) || args[0] === 'help', args.join(' '));
    const add = parse(readFileSync(drafts.find(({ name }) => name === 'many-add')!.file, 'utf8'));
    assert.deepEqual(add.command, ['../../../programs/many', 'add']);
    const { data: flat } = await project.envelope(['adopt', path, '--dry-run']);
    assert.deepEqual(parse(flat.drafts[0].manifest).inputs[0].enum, [
      'add',
      'remove',
      'rm',
      'group',
      'broken',
    ]);
  });

  it('of a program without help is refused with the command that runs it as it is', async () => {
    using project = new TestProject();
    const path = project.write('programs/silent.sh', '#!/bin/bash\necho hi\n', 0o755);
    const { error, meta } = await project.envelope(['adopt', path]);
    assert.match(error.message, /'silent\.sh' cannot be adopted: it printed no usable help/);
    assert.deepEqual(meta.next, [`acor exec ${path}`, 'acor health']);
    const { data } = await project.envelope(['exec', '--no-stream', '--', path]);
    assert.equal(data.result.data.output, 'hi');
  });

  it('writes nothing with --dry-run, never overwrites, and takes no name of an existing tool', async () => {
    using project = new TestProject();
    const dry = await project.envelope(['adopt', 'sort', '--dry-run']);
    assert.match(dry.data.drafts[0].manifest, /^# yaml-language-server: .*\n# DRAFT/);
    assert.deepEqual(dry.meta.next, ['acor adopt sort']);
    assert.ok(!existsSync(dry.data.drafts[0].file));
    const { data } = await project.envelope(['adopt', 'sort', '--output', 'elsewhere']);
    writeFileSync(data.drafts[0].file, 'mine');
    const again = await project.envelope(['adopt', 'sort', '--output', 'elsewhere']);
    assert.deepEqual([again.ok, again.error.code], [false, 'E_USAGE']);
    assert.equal(readFileSync(data.drafts[0].file, 'utf8'), 'mine');
    await project.envelope(['adopt', 'sort']);
    const rival = await project.envelope(['adopt', 'sort', '--output', 'third']);
    assert.match(rival.error.message, /has a tool of that name: sort/);
    assert.ok(!existsSync(project.path('third')));
  });

  it('reports a missing program, and one without a help text', async () => {
    using project = new TestProject();
    const missing = await project.envelope(['adopt', 'no-such-program']);
    assert.deepEqual([missing.error.code, missing.code], ['E_RUNTIME_MISSING', 2]);
    const mute = project.write('mute', '#!/bin/sh\nexit 0\n', 0o755);
    const silent = await project.envelope(['adopt', mute]);
    assert.deepEqual([silent.error.code, silent.code], ['E_TOOL_FAILED', 1]);
    assert.match(silent.error.hint, /mute --help, mute -h and mute help/);
  });

  it('prevents harm by the program, which it does without the sandbox (the control)', async () => {
    const { createServer } = await import('node:net');
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    try {
      const { port } = server.address() as { port: number };
      const harms = async (config?: string) => {
        using project = new TestProject(config === undefined ? {} : { config });
        const path = project.write('programs/harmful', HARMFUL.replace('PORT', String(port)), 0o755);
        const { data } = await project.envelope(['adopt', path, '--dry-run'], {
          stdin: 'a line\n',
          env: { SECRET_OF_CALLER: 'x' },
        });
        const names = parse(data.drafts[0].manifest).inputs.map(({ name }: { name: string }) => name);
        return [
          ...names.filter((name: string) => name.startsWith('harm')),
          ...readdirSync(project.path('programs')).sort(),
        ];
      };
      // /tmp belongs to the sandbox.
      assert.deepEqual(
        (await harms()).filter((each) => each !== 'harm_temp'),
        ['harmful'],
      );
      assert.deepEqual(await harms("version: 1\nsecurity: { isolation: 'off' }\n"), [
        'harm_wrote',
        'harm_temp',
        'harm_network',
        'harm',
        'harmful',
      ]);
    } finally {
      server.close();
      const { rmSync } = await import('node:fs');
      rmSync('/tmp/acor-adopt-harm', { force: true });
    }
  });

  it('kills a program that never stops writing, and tries another way to get its help', async () => {
    using project = new TestProject();
    const talks = project.write(
      'talks',
      '#!/bin/sh\n[ "$1" = -h ] && { echo "usage: talks [-a] [-b FILE]"; exit; }\nyes\n',
      0o755,
    );
    const { data } = await project.envelope(['adopt', talks, '--dry-run']);
    assert.deepEqual(
      data.asked.map((words: string[]) => words.at(-1)),
      ['--help', '-h'],
    );
    assert.equal(data.drafts[0].inputs, 2);
  });
});
