import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { needsMounts, ProjectWithMounts } from '../support/mount-namespace.ts';
import { ACOR, parseLines, TestProject } from '../support/project.ts';
import { atTerminal, noTerminal } from '../support/terminal.ts';

const SEED_001 = ['created_at', 'created_by', 'schema_versions'];

/** The content of a folder: paths with modes and hashes, without the runs. */
function stateOf(folder: string, below = ''): string[] {
  return readdirSync(join(folder, below), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name }) => {
      const path = join(below, name);
      const stat = lstatSync(join(folder, path));
      if (name === '.runs' || name === '.git') return [];
      if (stat.isDirectory()) return stateOf(folder, path);
      const text = stat.isSymbolicLink() ? '' : readFileSync(join(folder, path));
      return [`${path} ${stat.mode.toString(8)} ${createHash('sha256').update(text).digest('hex')}`];
    });
}

describe('acor init', () => {
  let around: TestProject;
  let folder: string;
  let count = 0;
  before(() => {
    around = new TestProject();
    // The parent folder must not be a project, or each folder would be one inside it.
    rmSync(around.path('.acor'), { recursive: true });
  });
  after(() => around[Symbol.dispose]());

  function empty(files: Readonly<Record<string, string>> = {}): string {
    folder = around.path(`p${++count}`);
    mkdirSync(folder);
    for (const [path, text] of Object.entries(files)) around.write(join(`p${count}`, path), text);
    return folder;
  }
  const init = (...args: string[]) => around.envelope(['init', ...args], { cwd: folder });
  const actions = ({ data }: Awaited<ReturnType<typeof init>>): Record<string, string> =>
    Object.fromEntries(data.files.map((file: { path: string; action: string }) => [file.path, file.action]));
  const read = (path: string) => readFileSync(join(folder, path), 'utf8');

  it('makes a project of an empty folder, whose first tool runs, and returns the next commands', async () => {
    empty();
    const { data, meta } = await init('--template', 'bash');
    assert.equal(data.changed, data.files.length);
    assert.deepEqual(new Set(Object.values(actions({ data } as never))), new Set(['create']));
    assert.deepEqual(Object.keys(JSON.parse(read('.acor/version.json'))), SEED_001);
    assert.deepEqual(JSON.parse(read('.acor/version.json')).schema_versions, { config: 1, protocol: 1 });
    const [run, describeIt, template] = meta.next as string[];
    for (const command of [run!, describeIt!, `${template} --dry-run`]) {
      const { code, stdout } = await around.acor(command.split(' ').slice(1), { cwd: folder });
      assert.equal(code, 0, `${command}: ${stdout}`);
    }
    const config = await around.envelope(['config', 'show', 'acor_version'], { cwd: folder });
    assert.equal(config.data.values[0].source, 'project');
  });

  it('writes modelines that name existing schemas', async () => {
    empty();
    await init();
    for (const file of ['.acor/config.yaml', 'tools/hello/tool.yaml']) {
      const [, schema] = /^# yaml-language-server: \$schema=(\S+)$/m.exec(read(file))!;
      const { title } = JSON.parse(readFileSync(join(folder, dirname(file), schema!), 'utf8'));
      assert.match(title, file.includes('config') ? /configuration/ : /manifest/);
    }
  });

  it('changes nothing the second time, to the byte', async () => {
    empty();
    const before = stateOf(folder);
    await init('--dry-run');
    assert.deepEqual(stateOf(folder), before, 'a dry run writes nothing');
    await init();
    const once = stateOf(folder);
    const again = await init();
    assert.deepEqual(stateOf(folder), once);
    assert.deepEqual([again.data.changed, ...new Set(Object.values(actions(again)))], [0, 'unchanged']);
    await init('--force');
    assert.deepEqual(stateOf(folder), once);
  });

  it('keeps files of other owners, also with --force, and adds its ignore rules to theirs', async () => {
    empty({ tool: '#!/bin/sh\necho mine\n', '.gitignore': 'dist/', '.acor/config.yaml': 'version: 1\n' });
    spawnSync('git', ['init', '-q'], { cwd: folder });
    for (const args of [[], ['--force']]) {
      const planned = actions(await init(...args));
      assert.deepEqual([planned.tool, planned['.acor/config.yaml']], ['keep', 'keep']);
      assert.deepEqual([read('tool'), read('.acor/config.yaml')], ['#!/bin/sh\necho mine\n', 'version: 1\n']);
    }
    assert.match(read('.gitignore'), /^dist\/\n# acor:begin\n[^#]+# acor:end\n$/);
    around.write(join(`p${count}`, 'x/__pycache__/a.pyc'), '');
    const ignored = spawnSync('git', ['status', '--short', '--', 'x', '.runs'], {
      cwd: folder,
      encoding: 'utf8',
    });
    assert.equal(ignored.stdout, '');
  });

  it('with --force replaces changed files that ACOR wrote, lists them, and keeps the old ones', async () => {
    empty();
    await init('--template', 'bash');
    const changed = `${read('.acor/config.yaml')}environment: { timeout_s: 5 }\n`;
    around.write(join(`p${count}`, '.acor/config.yaml'), changed);
    around.write(join(`p${count}`, 'tools/hello/greeting.sh'), 'greeting() { echo Hi; }\n');
    assert.equal(actions(await init())['.acor/config.yaml'], 'keep');
    assert.equal(read('.acor/config.yaml'), changed);
    const forced = actions(await init('--force'));
    assert.deepEqual(
      Object.entries(forced).filter(([, action]) => action === 'replace'),
      [['.acor/config.yaml', 'replace']],
    );
    assert.equal(forced['tools/hello/greeting.sh'], 'keep', 'a tool is its author’s');
    assert.equal(read('.acor/replaced/.acor/config.yaml'), changed);
    assert.doesNotMatch(read('.acor/config.yaml'), /timeout_s: 5/);
    around.write(join(`p${count}`, '.acor/config.yaml'), `${changed}# again\n`);
    await init('--force');
    assert.equal(read('.acor/replaced/.acor/config.yaml.1'), `${changed}# again\n`);
  });

  it('writes no first tool beside existing tools, and never into one', async () => {
    empty({ 'tools/mine/cli.sh': 'echo\n' });
    assert.equal((await init()).data.tool, null);
    assert.deepEqual(readdirSync(join(folder, 'tools')), ['mine']);
    assert.equal((await init('--template', 'bash')).data.tool, 'hello');
    const other = await init('--template', 'python');
    assert.deepEqual([other.data.tool, actions(other)['tools/hello']], [null, 'keep']);
    rmSync(join(folder, 'tools/hello/README.md'));
    await init();
    assert.ok(!existsSync(join(folder, 'tools/hello/README.md')), 'what its author took out stays out');
  });

  it('does not write through links', async () => {
    empty();
    const victim = around.write('victim', 'precious\n');
    for (const name of ['tool', '.gitignore']) symlinkSync(victim, join(folder, name));
    const planned = actions(await init('--force'));
    assert.deepEqual(
      [planned.tool, planned['.gitignore'], readFileSync(victim, 'utf8')],
      ['keep', 'keep', 'precious\n'],
    );
  });

  it('inside another project makes a new project, and reports that', async () => {
    const above = empty();
    await init();
    folder = join(above, 'sub');
    mkdirSync(folder);
    const { data } = await init('--template', 'bash');
    assert.match(data.notes[0], new RegExp(`is inside the project ${above}`));
    assert.equal(
      (await around.envelope(['config', 'show', 'project.name'], { cwd: folder })).data.root,
      folder,
    );
  });

  it('does not prompt an agent, and shows a list to a person', {
    skip: noTerminal,
  }, async () => {
    empty();
    const forAgent = await atTerminal(['init', '--dry-run'], { cwd: folder, env: { CLAUDECODE: '1' } });
    assert.equal(JSON.parse(forAgent.text).data.dry_run, true);
    const shown = await atTerminal(['init'], { cwd: folder });
    assert.equal(shown.code, 0, shown.text);
    assert.match(shown.text, /^The project .*\r\n/);
    assert.match(shown.text, /^create {5}tools\/hello\/tool\.yaml\r$/m);
    assert.match(shown.text, /acor run hello --who Ada/);
  });

  it(
    'reports a folder that is not writable with the fix, and completes after the fix',
    needsMounts,
    async () => {
      using project = await ProjectWithMounts.open({});
      project.shell('mkdir -p ro/.acor');
      project.makeReadOnly(project.path('ro'));
      const { code, error } = await project.envelope(['init'], { cwd: project.path('ro') });
      assert.deepEqual([code, error.code, error.details.written], [2, 'E_STORAGE', []]);
      assert.match(error.message, /cannot write .*\/ro\/\.acor\/config\.yaml \(EROFS\)/);
      assert.match(error.hint, /chmod u\+w .*\/ro\/\.acor$/);
      project.unmount(project.path('ro'));
      const { data } = await project.envelope(['init'], { cwd: project.path('ro') });
      assert.equal(data.changed, data.files.length);
    },
  );
});

describe('the ./tool shortcut', () => {
  let project: TestProject;
  before(async () => {
    project = new TestProject();
    await project.acor(['init', '--force', '--template', 'bash']);
    project.write(
      'tools/ends/cli.sh',
      '#!/bin/sh\n[ "$1" = late ] && { echo \'{"type":"heartbeat"}\'; sleep 60; }\n[ "$1" = read ] && cat "$2" && exit 0\nexit "$1"\n',
      0o755,
    );
  });
  after(() => project[Symbol.dispose]());

  function tool(args: readonly string[], options: { cwd?: string; env?: Record<string, string> } = {}) {
    const { status, stdout } = spawnSync(project.path('tool'), args, {
      cwd: options.cwd ?? project.root,
      env: { PATH: `${dirname(ACOR)}:${process.env.PATH}`, HOME: process.env.HOME ?? '/', ...options.env },
      encoding: 'utf8',
    });
    return { status, stdout };
  }

  it('lists and describes the tools', () => {
    const { tools } = JSON.parse(tool(['--list']).stdout).data;
    assert.deepEqual(
      tools.map(({ name }: { name: string }) => name),
      ['ends', 'hello'],
    );
    assert.equal(JSON.parse(tool(['--describe', 'hello']).stdout).data.entry, 'cli.sh');
    assert.equal(tool(['--describe', 'nothing']).status, 1);
    assert.match(tool(['--help']).stdout, /acor run/);
  });

  it('runs a tool and ends with its exit code, or 124 after the deadline', () => {
    const { status, stdout } = tool(['hello', '--who', 'Ada Lovelace']);
    assert.deepEqual([status, parseLines(stdout).at(-1)!.type], [0, 'runner_end']);
    assert.match(stdout, /Hello, Ada Lovelace!/);
    assert.deepEqual(
      [tool(['ends', '7']).status, tool(['ends', 'late'], { env: { TOOL_TIMEOUT_S: '0.3' } }).status],
      [7, 124],
    );
  });

  it("resolves paths in the caller's folder, and finds its project from anywhere", () => {
    project.write('deep/er/x.txt', 'from the depth\n');
    assert.match(tool(['ends', 'read', 'x.txt'], { cwd: project.path('deep/er') }).stdout, /from the depth/);
    assert.equal(tool(['ends', '5'], { cwd: '/' }).status, 5);
  });

  it('says how to find acor when it is missing', () => {
    const { status, stdout } = tool(['hello'], { env: { PATH: '/usr/bin:/bin' } });
    const { error } = JSON.parse(stdout);
    assert.deepEqual([status, error.code], [2, 'E_RUNTIME_MISSING']);
    assert.equal(tool(['ends', '0'], { env: { PATH: '/usr/bin:/bin', ACOR } }).status, 0);
  });
});
