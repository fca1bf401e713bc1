import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { bubblewrap } from '../../src/core/sandbox/backends/bubblewrap.ts';
import { Acor } from '../../src/index.ts';
import { needsStrace } from '../support/faults.ts';
import { ACOR, TestProject } from '../support/project.ts';
import { atTerminal, noTerminal } from '../support/terminal.ts';

const canMount = process.platform === 'linux' && (await bubblewrap.probe()).available;
const skip = canMount ? false : 'no sandbox here can mount a layer';

let project: TestProject;
beforeEach(() => {
  project = new TestProject();
  project.letAgents('apply', 'undo');
  project.write('site/a.txt', 'one\n');
  project.write('site/b.txt', 'two\n');
  project.write('site/sub/x.txt', 'x\n');
  mkdirSync(project.path('victim'), { mode: 0o777 });
});
afterEach(() => project[Symbol.dispose]());

/** A tool that works in the folder `site`, which its manifest grants. */
function addTool(name: string, script: string, mode?: 'snapshot' | 'review', more = ''): void {
  const write = mode === undefined ? 'site' : `{ path: site, mode: ${mode} }`;
  project.write(
    `tools/${name}/tool.yaml`,
    `name: ${name}\nversion: 1.0.0\npermissions: { filesystem: { write: [${write}] } }\n${more}`,
  );
  const head = `import os, sys\nvictim = ${JSON.stringify(project.path('victim'))}\nos.chdir(${JSON.stringify(project.path('site'))})\n`;
  project.write(`tools/${name}/cli.py`, `${head}${script}print('{"type":"result","status":"ok"}')\n`);
}

const CHANGES = `open('a.txt', 'w').write('changed\\n')
os.remove('b.txt')
os.mkdir('new')
open('new/n.txt', 'w').write('n\\n')
os.remove('sub/x.txt'); os.rmdir('sub')
open('sub', 'w').write('now a file\\n')
os.symlink('a.txt', 'link')
`;

/** All below a folder, as text. */
function contentOf(path: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(path, { recursive: true, encoding: 'utf8' }).sort()) {
    const at = join(path, name);
    const stats = lstatSync(at);
    if (stats.isSymbolicLink()) found[name] = `-> ${readlinkSync(at)}`;
    else if (stats.isFile()) found[name] = readFileSync(at, 'utf8');
    else found[name] = stats.isDirectory() ? '/' : 'special';
  }
  return found;
}

const data = () => contentOf(project.path('site'));
const BEFORE = { 'a.txt': 'one\n', 'b.txt': 'two\n', sub: '/', 'sub/x.txt': 'x\n' };
const AFTER = {
  'a.txt': 'changed\n',
  link: '-> a.txt',
  new: '/',
  'new/n.txt': 'n\n',
  sub: 'now a file\n',
};

async function ran(args: readonly string[]): Promise<string> {
  const run = await project.envelope(['run', '--no-stream', ...args]);
  assert.equal(run.data?.state, 'completed', JSON.stringify(run));
  return run.data.run_id;
}

const changesOf = (diff: { data?: { changes: { path: string; change: string }[] } }) =>
  diff.data!.changes.map(({ path, change }) => `${change} ${path.slice(project.path('site').length + 1)}`);

describe('a layer', { skip }, () => {
  it('is named to the model that called a function tool, with the commands, as a snapshot is', async () => {
    for (const mode of ['review', 'snapshot'] as const) addTool(mode, CHANGES, mode);
    addTool('reads', '');
    const acor = new Acor({ cwd: project.root, env: project.environment() });
    const tools = await acor.functionTools();
    const call = (wanted: string) => tools.find(({ name }) => name === wanted)!.execute({});
    const { run_id: held, note, state } = await call('review');
    assert.equal(state, 'completed');
    assert.match(
      note!,
      new RegExp(`held back.*: acor diff ${held}; acor apply ${held}; acor discard ${held}$`),
    );
    const { run_id: made, note: undo } = await call('snapshot');
    assert.match(undo!, new RegExp(`undo.*: acor diff ${made}; acor undo ${made}$`));
    assert.equal((await call('reads')).note, undefined, 'the control: a run that keeps nothing');
  });

  it('has the changes of a tool, which finds them itself, and the folder has them when they are applied', async () => {
    addTool('works', `${CHANGES}assert open('a.txt').read() == 'changed\\n'\n`, 'review');
    const run = await ran(['works']);
    assert.deepEqual(data(), BEFORE);
    const shown = await project.envelope(['show', run]);
    assert.deepEqual(shown.data.undecided, [
      { path: project.path('site'), mode: 'review', state: 'pending' },
    ]);
    assert.deepEqual(shown.meta.next, [`acor diff ${run}`, `acor apply ${run}`, `acor discard ${run}`]);

    const diff = await project.envelope(['diff', run]);
    assert.deepEqual(changesOf(diff), [
      ...['modified a.txt', 'deleted b.txt', 'added link', 'added new', 'added new/n.txt', 'modified sub'],
      'deleted sub/x.txt',
    ]);
    assert.match(diff.data.changes[0].patch, /^-one\n\+changed$/m);

    const planned = await project.envelope(['apply', run, '--dry-run']);
    assert.equal(planned.data.paths.length, 7);
    assert.deepEqual(data(), BEFORE);
    const applied = await project.envelope(['apply', run]);
    assert.deepEqual([applied.data.left, applied.meta.next], [0, undefined]);
    assert.deepEqual(data(), AFTER);

    const after = await project.envelope(['diff', run]);
    assert.deepEqual(after.data.changes, []);
    assert.equal(after.data.effects[0].count, 7);
    assert.match(readFileSync(join(project.runsDir, 'ledger.jsonl'), 'utf8'), /"type":"applied"/);
    assert.equal((await project.envelope(['verify'])).ok, true);
    const again = await project.envelope(['apply', run]);
    assert.equal(again.error?.code, 'E_USAGE');
  });

  it('has the files that a tool renames and links from one folder to another', async () => {
    const moves = `os.mkdir('new')
os.rename('a.txt', 'new/a.txt')
os.link('b.txt', 'new/b.txt')
os.rename('sub/x.txt', 'x.txt')
os.mkdir('new/deep')
os.rename('new/deep', 'sub/deep')
`;
    addTool('moves', moves, 'review');
    const runId = await ran(['moves']);
    assert.deepEqual(data(), BEFORE);
    await project.envelope(['apply', runId]);
    assert.deepEqual(data(), {
      'b.txt': 'two\n',
      new: '/',
      'new/a.txt': 'one\n',
      'new/b.txt': 'two\n',
      sub: '/',
      'sub/deep': '/',
      'x.txt': 'x\n',
    });
  });

  it('is applied in part, and the rest is discarded', async () => {
    addTool('works', CHANGES, 'review');
    const run = await ran(['works']);
    const applied = await project.envelope(['apply', run, 'site/new/n.txt', 'site/a.txt']);
    assert.deepEqual({ ...data() }, { ...BEFORE, 'a.txt': 'changed\n', new: '/', 'new/n.txt': 'n\n' });
    assert.equal(applied.data.left, 4);
    assert.deepEqual(changesOf(await project.envelope(['diff', run])), [
      ...['deleted b.txt', 'added link', 'modified sub', 'deleted sub/x.txt'],
    ]);
    assert.equal((await project.envelope(['discard', run])).ok, true);
    assert.deepEqual((await project.envelope(['diff', run])).data.changes, []);
    assert.equal(existsSync(join(project.runsDir, run, 'kept', 'tree')), false);
  });

  it('is asked for by the caller, by the configuration and by a manifest, and the strictest of them counts', async () => {
    addTool('works', CHANGES);
    addTool('asks', CHANGES, 'review');
    await ran(['works', '--review']);
    assert.deepEqual(data(), BEFORE);
    await ran(['asks', '--snapshot']);
    assert.deepEqual(data(), BEFORE);
    project.write('.acor/config.yaml', 'version: 1\nsecurity: { writes: review }\n');
    await ran(['works']);
    assert.deepEqual(data(), BEFORE);
    project.write('.acor/config.yaml', 'version: 1\n');
    await ran(['works']);
    assert.deepEqual(data(), AFTER, 'the control: without a layer the tool writes in place');
  });

  it('holds the outputs that arguments name, too', async () => {
    project.write(
      'tools/out/tool.yaml',
      'name: out\nversion: 1.0.0\ninputs: [{ name: new, type: path, access: write }, { name: old, type: path, access: write }]\n',
    );
    project.write(
      'tools/out/cli.sh',
      '#!/bin/bash\necho new > "$2"; echo more >> "$4"; echo \'{"type":"result","status":"ok"}\'\n',
      0o755,
    );
    const args = ['out', '--new', 'made/new.txt', '--old', 'site/a.txt'];
    const run = await ran(['--review', ...args]);
    assert.equal(existsSync(project.path('made')), false);
    assert.deepEqual(data(), BEFORE);
    const diff = await project.envelope(['diff', run]);
    assert.deepEqual(
      diff.data.changes.map(({ path, change }: { path: string; change: string }) => [change, path]),
      [
        ['added', project.path('made/new.txt')],
        ['modified', project.path('site/a.txt')],
      ],
    );
    assert.equal((await project.envelope(['apply', run])).data.left, 0);
    assert.equal(readFileSync(project.path('made/new.txt'), 'utf8'), 'new\n');
    assert.equal(readFileSync(project.path('site/a.txt'), 'utf8'), 'one\nmore\n');
  });

  it('is found by the next attempt of the same run', async () => {
    addTool(
      'twice',
      "if os.path.exists('mark'):\n    open('done', 'w').write('yes')\nelse:\n    open('mark', 'w').write('1'); sys.exit(20)\n",
      'review',
      'idempotent: true\nretry: { max_attempts: 2, backoff_s: 0 }\n',
    );
    const run = await ran(['twice']);
    assert.deepEqual(changesOf(await project.envelope(['diff', run])), ['added done', 'added mark']);
    assert.deepEqual(data(), BEFORE);
  });

  it('is not applied over changes that others have made meanwhile: nothing is written then', async () => {
    addTool('works', CHANGES, 'review');
    const run = await ran(['works']);
    project.write('site/a.txt', 'mine\n');
    project.write('site/new', 'mine too\n');
    project.write('site/sub/mine.txt', 'and this\n');
    const mine = data();
    const refused = await project.envelope(['apply', run]);
    assert.equal(refused.error?.code, 'E_CONFLICT');
    assert.deepEqual(
      (refused.error!.details!.conflicts as { path: string; problem: string }[])
        .map(({ path, problem }) => `${problem} ${path.slice(project.path('site').length + 1)}`)
        .sort(),
      ['appeared new', 'appeared sub/mine.txt', 'changed a.txt'],
    );
    assert.deepEqual(data(), mine);
    const part = await project.envelope(['apply', run, 'site/b.txt']);
    assert.equal(part.ok, true);
    assert.equal(existsSync(project.path('site/b.txt')), false);
    // Someone who makes the same change is no conflict.
    project.write('site/a.txt', 'changed\n');
    assert.equal((await project.envelope(['apply', run, 'site/a.txt'])).ok, true);
  });

  it(
    'is continued after a kill at any moment, and takes no folder of another program for its own',
    needsStrace,
    async () => {
      const folders = `os.makedirs('deep/er')\nopen('deep/er/d.txt', 'w').write('d\\n')\nos.mkdir('own')\nos.chmod('deep', 0o555)\n`;
      const turned = `os.remove('turns'); os.mkdir('turns'); open('turns/t.txt', 'w').write('t\\n')\n`;
      project.write('site/turns', 'a file\n');
      addTool('works', CHANGES + folders + turned, 'review');
      const run = await ran(['works']);
      // An ordinary user removes nothing below a folder that is not writable.
      const start = 'chmod -R u+rwX site .runs; rm -rf site .runs; cp -a kept/. .';
      const inProject = (line: string) => {
        const { status, stderr } = spawnSync('sh', ['-ec', line], { cwd: project.root, encoding: 'utf8' });
        assert.equal(status, 0, stderr);
      };
      inProject('mkdir kept; cp -a site .runs kept');
      const expected = {
        ...{ ...AFTER, own: '/', turns: '/', 'turns/t.txt': 't\n' },
        ...{ deep: '/', 'deep/er': '/', 'deep/er/d.txt': 'd\n' },
      };
      const unfinished = () =>
        Object.keys(data()).filter((name) => /(?:^|\/)\.acor-[0-9a-f]{16}$/.test(name));
      let [kills, conflicts, leftFiles] = [0, 0, 0];
      for (const call of ['mkdir', 'chmod', 'rename', 'unlink', 'rmdir']) {
        // Root tries the odd calls and another user the even ones: all of them take half a minute.
        for (let nth = process.getuid?.() === 0 ? 1 : 2, wasKilled = true; wasKilled; nth += 2) {
          inProject(start);
          const argv = ['-qqq', '-o', '/dev/null', '-e', `trace=${call}`, ACOR, 'apply', run];
          const inject = ['-e', `inject=${call}:signal=SIGKILL:when=${nth}`];
          const { signal } = await project.startProgram('strace', [...inject, ...argv], {}).finished;
          wasKilled = signal === 'SIGKILL';
          const moment = `${call} ${nth}`;
          if (wasKilled) kills++;
          leftFiles += unfinished().length;
          if (call === 'mkdir' && !existsSync(project.path('site/own'))) {
            mkdirSync(project.path('site/own'), { mode: 0o700 });
            const { error } = await project.envelope(['apply', run]);
            assert.match(
              error!.message,
              /^nothing was applied: 1 entry changed since, .*own \(appeared\)$/,
              moment,
            );
            rmdirSync(project.path('site/own'));
            conflicts++;
          }
          // After the last step nothing is left to do.
          const { error } = await project.envelope(['apply', run]);
          assert.match(error?.message ?? '', /^(?:|run r-\w+ has nothing to apply)$/, moment);
          assert.deepEqual(data(), expected, moment);
          const modes = ['deep', 'own'].map((name) => statSync(project.path('site', name)).mode & 0o7777);
          assert.deepEqual(modes, [0o555, 0o755], moment);
        }
      }
      inProject('chmod -R u+rwX .');
      const counts = `${kills} kills, ${conflicts} conflicts, ${leftFiles} unfinished files`;
      assert.ok(kills > 15 && conflicts > 1 && leftFiles > 1, counts);
    },
  );

  it('never puts pipes, links that lead out, or set-id bits in place', async () => {
    addTool(
      'hostile',
      `os.mkfifo('pipe')
os.symlink('/etc/passwd', 'absolute')
os.symlink('../victim', 'up')
os.symlink('sub/../../victim', 'hidden')
os.symlink('locked', 'here')
open('locked', 'w').write('text'); os.chmod('locked', 0)
os.mkdir('closed'); open('closed/in', 'w').write('in'); os.chmod('closed', 0)
open('program', 'w').write('p')
try: os.chmod('program', 0o6755)
except PermissionError: os.chmod('program', 0o755)
`,
      'review',
    );
    const run = await ran(['hostile']);
    const applied = await project.envelope(['apply', run]);
    assert.deepEqual(
      applied.data.refused.map(
        ({ path, why }: { path: string; why: string }) => `${why} ${path.split('/').at(-1)}`,
      ),
      ['leads_out absolute', 'leads_out hidden', 'special pipe', 'leads_out up'],
    );
    chmodSync(project.path('site/closed'), 0o700);
    chmodSync(project.path('site/locked'), 0o600);
    assert.deepEqual(data(), {
      ...BEFORE,
      closed: '/',
      'closed/in': 'in',
      here: '-> locked',
      locked: 'text',
      program: 'p',
    });
    assert.equal(statSync(project.path('site/program')).mode & 0o7777, 0o755);
    assert.equal(applied.data.left, 4);
  });

  it('leaves only the discard of what is nested too deep to be compared', async () => {
    addTool('nests', "for i in range(900):\n    os.mkdir('deep'); os.chdir('deep')\n", 'review');
    const run = await ran(['nests']);
    const shown = await project.envelope(['show', run]);
    assert.equal(shown.data.undecided[0].state, 'too_large');
    assert.deepEqual(shown.meta.next, [`acor diff ${run}`, `acor discard ${run}`]);
    assert.equal((await project.envelope(['diff', run])).ok, true);
    assert.equal((await project.envelope(['apply', run])).error?.code, 'E_STORAGE');
    assert.equal((await project.envelope(['discard', run])).ok, true);
    assert.deepEqual(data(), BEFORE);
  });

  it('warns of each change that other programs may execute later, in the diff and when it is applied', async () => {
    project.write('site/package.json', '{"scripts":{"test":"old"}}');
    project.write('site/lib/package.json', '{"scripts":{"test":"old"},"dependencies":{}}');
    chmodSync(project.path('site/b.txt'), 0o755);
    addTool(
      'plants',
      `os.makedirs('.git/hooks'); os.makedirs('.git/modules/m'); os.makedirs('.cargo'); os.makedirs('.vscode'); os.makedirs('.github/workflows')
for path in ['.git/hooks/pre-commit', '.git/config', '.git/commondir', '.git/modules/m/config', '.cargo/config.toml', 'vite.config.ts', '.vscode/tasks.json', '.github/workflows/ci.yml', '.envrc', '.bashrc', 'Makefile', 'tool.sh', 'plain.txt', 'b.txt']:
  open(path, 'w').write('touch /tmp/x')
os.chmod('tool.sh', 0o755)
os.chmod('a.txt', 0o777)
open('package.json', 'w').write('{"scripts":{"postinstall":"new"}}')
open('lib/package.json', 'w').write('{"scripts":{"test":"old"},"dependencies":{"a":"1"}}')
`,
      'review',
    );
    const run = await ran(['plants']);
    const expected = {
      '.bashrc': 'hook_or_settings',
      '.envrc': 'hook_or_settings',
      '.git/config': 'hook_or_settings',
      '.git/commondir': 'hook_or_settings',
      '.git/modules/m/config': 'hook_or_settings',
      '.cargo/config.toml': 'build',
      'vite.config.ts': 'build',
      '.git/hooks': 'hook_or_settings',
      '.git/hooks/pre-commit': 'hook_or_settings',
      '.github/workflows': 'hook_or_settings',
      '.github/workflows/ci.yml': 'hook_or_settings',
      '.vscode': 'hook_or_settings',
      '.vscode/tasks.json': 'hook_or_settings',
      'a.txt': 'executable',
      'b.txt': 'executable',
      Makefile: 'build',
      'package.json': 'scripts',
      'tool.sh': 'executable',
    };
    const below = (path: string) => path.slice(project.path('site').length + 1);
    const { data: diff, meta } = await project.envelope(['diff', run]);
    const found = diff.changes.flatMap(({ path, executed }: { path: string; executed?: string }) =>
      executed === undefined ? [] : [[below(path), executed]],
    );
    assert.deepEqual(Object.fromEntries(found), { ...expected, '.git': 'hook_or_settings' });
    const words = `${project.path('site/.envrc')} may be executed later: other programs execute or obey it without being asked`;
    assert.ok(meta.warnings.includes(words), String(meta.warnings));
    for (const args of [['--dry-run'], []]) {
      const applied = await project.envelope(['apply', run, 'site/.envrc', 'site/plain.txt', ...args]);
      assert.deepEqual(applied.data.executed, [
        { path: project.path('site/.envrc'), way: 'hook_or_settings' },
      ]);
      assert.deepEqual(applied.meta.warnings, [words]);
    }
  });

  it('keeps names apart that are no UTF-8, and says when a path has no change', async () => {
    addTool(
      'odd',
      "for name in [b'n\\xff', b'n\\xfe', b'n\\xc3\\xa9']:\n  open(name, 'w').write('x')\nos.symlink(b'to\\xff', 'link')\n",
      'review',
    );
    const run = await ran(['odd']);
    const named = ['added link', 'added n\\xfe', 'added n\\xff', 'added n\u00e9'];
    assert.deepEqual(changesOf(await project.envelope(['diff', run])).sort(), named);
    const names = () => readdirSync(project.path('site'), { encoding: 'latin1' });
    const one = await project.envelope(['apply', run, 'site/n\\xff', 'site/none']);
    assert.deepEqual(one.data.paths, [project.path('site/n\\xff')]);
    assert.deepEqual(one.meta.warnings, [`the run has no undecided change at ${project.path('site/none')}`]);
    assert.deepEqual([names().includes('n\xff'), names().includes('n\xfe'), one.data.left], [true, false, 3]);
    assert.equal((await project.envelope(['apply', run])).data.left, 0);
    assert.ok(names().includes('n\xfe'));
    assert.equal(readlinkSync(project.path('site/link'), { encoding: 'latin1' }), 'to\xff');
  });

  it('is not applied by lists of its changes that something else has written', async () => {
    addTool('works', CHANGES, 'review');
    const run = await ran(['works']);
    const kept = join(project.runsDir, run, 'kept');
    const [id] = readdirSync(kept).filter((name) => !name.includes('.'));
    const list = join(kept, id!, 'after.json');
    const text = readFileSync(list, 'utf8');
    // Out of the folder, and another content under the same name.
    for (const forged of [
      text.replace('"new/n.txt"', '"../victim/n.txt"'),
      text.replace(/"sha256":"./, '"sha256":"f'),
    ]) {
      assert.notEqual(forged, text);
      writeFileSync(list, forged);
      for (const command of ['diff', 'apply'])
        assert.equal((await project.envelope([command, run])).error?.code, 'E_INTEGRITY', command);
    }
    assert.deepEqual([data(), readdirSync(project.path('victim'))], [BEFORE, []]);
    writeFileSync(list, text);
    assert.equal((await project.envelope(['apply', run])).ok, true, 'the control');
  });

  it('is applied only to what could be granted at that time', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'acor-outside-'));
    try {
      const env = { TMPDIR: project.path('victim') };
      const manifest = (write: string) =>
        project.write(
          'tools/out/tool.yaml',
          `name: out\nversion: 1.0.0\npermissions: { filesystem: { write: [${write}] } }\n`,
        );
      manifest(`{ path: ${outside}, mode: review }`);
      project.write(
        'tools/out/cli.py',
        `open('${outside}/made', 'w').write('x')\nprint('{"type":"result","status":"ok"}')\n`,
      );
      const run = await project.envelope(['run', '--no-stream', 'out'], { env });
      assert.equal(run.ok, true, JSON.stringify(run));
      manifest('site');
      const refused = await project.envelope(['apply', run.data.run_id], { env });
      assert.deepEqual([refused.error?.code, readdirSync(outside)], ['E_PERMISSION', []]);
      assert.match(refused.error!.message, /may not write .* any more: it is outside of /);
      manifest(`{ path: ${outside}, mode: review }`);
      assert.equal((await project.envelope(['apply', run.data.run_id], { env })).ok, true);
      assert.deepEqual(readdirSync(outside), ['made']);
    } finally {
      rmSync(outside, { recursive: true });
    }
  });

  it('is shown at a terminal with whole paths, however long they are', { skip: noTerminal }, async () => {
    const long = `${'deep/'.repeat(30)}${'name'.repeat(20)}.txt`;
    addTool(
      'nests',
      `os.makedirs(os.path.dirname('${long}'))\nopen('${long}', 'w').write('new text\\n')\nopen('.envrc', 'w').write('x')\n`,
      'review',
    );
    const run = await ran(['nests']);
    const { text } = await atTerminal(['diff', run], { cwd: project.root });
    assert.ok(text.includes(project.path(`site/${long}`)), text);
    assert.match(text, /added +\S+\.envrc\s+MAY BE EXECUTED LATER \(hook_or_settings\)/);
    assert.ok(text.includes('+new text'));
  });

  it('is not applied through a link that has taken the place of a folder', async () => {
    addTool(
      'works',
      "open('sub/new.txt', 'w').write('new')\nopen('sub/x.txt', 'w').write('changed')\n",
      'review',
    );
    const run = await ran(['works']);
    writeFileSync(project.path('victim/x.txt'), 'x\n');
    renameSync(project.path('site/sub'), project.path('site/was'));
    symlinkSync(project.path('victim'), project.path('site/sub'));
    const refused = await project.envelope(['apply', run]);
    assert.equal(refused.error?.code, 'E_CONFLICT', JSON.stringify(refused));
    assert.deepEqual(contentOf(project.path('victim')), { 'x.txt': 'x\n' });
    rmSync(project.path('site/sub'));
    renameSync(project.path('site/was'), project.path('site/sub'));
    renameSync(project.path('site'), project.path('elsewhere'));
    symlinkSync(project.path('elsewhere'), project.path('site'));
    assert.equal((await project.envelope(['apply', run])).ok, false);
    assert.deepEqual(contentOf(project.path('elsewhere/sub')), { 'x.txt': 'x\n' });
    rmSync(project.path('site'));
    renameSync(project.path('elsewhere'), project.path('site'));
    assert.equal((await project.envelope(['apply', run])).ok, true, 'the control');
    assert.deepEqual(contentOf(project.path('site/sub')), { 'new.txt': 'new', 'x.txt': 'changed' });
  });

  it('shows a tool neither the real folder nor the layers of other runs', async () => {
    addTool('works', CHANGES, 'review');
    const run = await ran(['works']);
    const kept = join(project.runsDir, run, 'kept');
    addTool(
      'looks',
      `found = [p for p in ${JSON.stringify([kept, join(kept, 'index.json')])} if os.path.exists(p)]
assert found == [], found
assert open('a.txt').read() == 'one\\n'
try:
    os.link(${JSON.stringify(project.path('tools/looks/cli.py'))}, 'hard')
    raise SystemExit('a hard link to a file outside')
except OSError: pass
open('a.txt', 'w').write('mine')
`,
      'review',
    );
    await ran(['looks']);
    assert.deepEqual(data(), BEFORE);
  });

  it('keeps its run from being cleaned, removed and packed before the user has decided', async () => {
    addTool('works', CHANGES, 'review');
    const run = await ran(['works']);
    await project.supervisorsExited();
    for (const args of [
      ['clean', '--keep', '0'],
      ['clean', '--pack', '--keep', '0'],
    ]) {
      const cleaned = await project.envelope(args);
      assert.deepEqual([cleaned.data.removed, cleaned.data.packed], [[], []]);
      assert.match(cleaned.data.skipped[0].reason, /neither applied nor discarded/);
    }
    assert.equal((await project.envelope(['runs', 'rm', run])).error?.code, 'E_USAGE');
    await project.envelope(['discard', run]);
    assert.deepEqual((await project.envelope(['clean', '--keep', '0'])).data.removed, [run]);
  });

  it('needs a sandbox that mounts it, and a tool that may not write everywhere', async () => {
    addTool('works', CHANGES, 'review');
    project.write('.acor/config.yaml', "version: 1\nsecurity: { isolation: 'off' }\n");
    const refused = await project.envelope(['run', '--no-stream', 'works']);
    assert.equal(refused.error?.code, 'E_SANDBOX_UNAVAILABLE');
    assert.deepEqual(data(), BEFORE);
  });

  it('copies at most a bounded size, and says so before it copies', async () => {
    addTool('works', CHANGES, 'review');
    const file = openSync(project.path('site/holes'), 'w');
    ftruncateSync(file, 1_000_000_001);
    closeSync(file);
    const refused = await project.envelope(['run', '--no-stream', 'works']);
    assert.equal(refused.error?.code, 'E_PERMISSION');
    assert.match(refused.error!.message, /too large for a layer: its files have more than 1000000000 bytes/);
    assert.equal(readFileSync(project.path('site/a.txt'), 'utf8'), 'one\n');
  });
});

describe('a snapshot', () => {
  it('keeps the file that an output replaces, also of a program that has no manifest', async () => {
    project.write('lines.txt', '1\n2\n');
    project.write('kept.txt', 'precious\n');
    const sort = ['exec', '--no-stream', '--write', 'kept.txt'];
    const words = ['--', 'sort', '-r', 'lines.txt', '-o'];
    const { data } = await project.envelope([...sort, '--snapshot', ...words, 'kept.txt']);
    assert.equal(readFileSync(project.path('kept.txt'), 'utf8'), '2\n1\n', 'the control');
    assert.equal((await project.envelope(['undo', data.run_id])).ok, true);
    assert.equal(readFileSync(project.path('kept.txt'), 'utf8'), 'precious\n');
    const verified = await project.envelope(['verify', data.run_id]);
    assert.equal(verified.ok, true, JSON.stringify(verified.error));
    // Only what the ledger has was undone: the list of paths alone could be written by anyone.
    const list = join(project.runsDir, data.run_id, 'kept', 'index.json');
    writeFileSync(list, readFileSync(list, 'utf8').replaceAll('"paths":[', '"paths":["/else",'));
    assert.equal((await project.envelope(['verify', data.run_id])).error?.code, 'E_INTEGRITY');
  });

  it('restores what a run changed in place, once', async () => {
    addTool('works', CHANGES, 'snapshot');
    const run = await ran(['works']);
    assert.deepEqual(data(), AFTER);
    const diff = await project.envelope(['diff', run, '--stat']);
    assert.equal(diff.data.changes.length, 7);
    assert.deepEqual(diff.meta.next, [`acor undo ${run}`]);
    const undone = await project.envelope(['undo', run]);
    assert.equal(undone.data.left, 0);
    assert.deepEqual(data(), BEFORE);
    assert.equal((await project.envelope(['undo', run])).error?.code, 'E_USAGE');
    assert.equal((await project.envelope(['apply', run])).error?.code, 'E_USAGE');
  });

  it(
    'whose restoration is killed leaves no file of ACOR, which removes no file of another program',
    needsStrace,
    async () => {
      addTool('works', CHANGES, 'snapshot');
      project.write('site/.acor-0123456789abcdef', 'mine\n');
      const mine = { ...BEFORE, '.acor-0123456789abcdef': 'mine\n' };
      const unfinished = () =>
        Object.keys(data()).filter((name) => name.startsWith('.acor-') && !(name in mine));
      const killedUndo = async () => {
        const run = await ran(['works']);
        for (let nth = 1; unfinished().length === 0; nth++) {
          const inject = ['-e', 'trace=rename', '-e', `inject=rename:signal=SIGKILL:when=${nth}`];
          const argv = ['-qqq', '-o', '/dev/null', ...inject, ACOR, 'undo', run];
          const { signal } = await project.startProgram('strace', argv, {}).finished;
          assert.equal(signal, 'SIGKILL', `no unfinished file after ${nth - 1} kills`);
        }
        return run;
      };
      const undone = await killedUndo();
      assert.deepEqual((await project.envelope(['undo', undone])).data.left, 0);
      assert.deepEqual(data(), mine);

      const dropped = await killedUndo();
      const removed = await project.envelope(['runs', 'rm', dropped]);
      const reason = `the undo of its changes of ${project.path('site')} was interrupted`;
      assert.equal(removed.error?.message, `run ${dropped} cannot be removed: ${reason}`);
      const { skipped } = (await project.envelope(['clean', '--keep', '0'])).data;
      assert.deepEqual(skipped, [{ run_id: dropped, reason }]);
      const [name] = unfinished();
      if (process.geteuid?.() === 0) {
        // With another owner it is not what ACOR has written.
        chownSync(project.path('site', name!), 54_321, 54_321);
      }
      assert.equal((await project.envelope(['discard', dropped])).ok, true);
      assert.deepEqual(unfinished(), process.geteuid?.() === 0 ? [name] : []);
      assert.equal((await project.envelope(['runs', 'rm', dropped])).ok, true);
    },
  );

  it('is not restored over changes that others have made since', async () => {
    addTool('works', CHANGES, 'snapshot');
    const run = await ran(['works']);
    project.write('site/a.txt', 'mine\n');
    project.write('site/new/mine.txt', 'mine\n');
    const mine = data();
    const refused = await project.envelope(['undo', run]);
    assert.equal(refused.error?.code, 'E_CONFLICT');
    assert.deepEqual(data(), mine);
    assert.equal((await project.envelope(['undo', run, 'site/b.txt'])).ok, true);
    assert.deepEqual(data(), { ...mine, 'b.txt': 'two\n' });
  });

  it('leaves the pipes and sockets of the user where they are, in a layer as well', async () => {
    assert.equal(spawnSync('mkfifo', [project.path('site/pipe')]).status, 0);
    for (const mode of canMount ? (['snapshot', 'review'] as const) : (['snapshot'] as const)) {
      addTool(mode, `open('a.txt', 'w').write('${mode}')\n`, mode);
      const run = await ran([mode]);
      assert.deepEqual(changesOf(await project.envelope(['diff', run])), ['modified a.txt']);
      const settled = await project.envelope([mode === 'review' ? 'apply' : 'undo', run]);
      assert.deepEqual([settled.data.refused, settled.data.left], [[], 0]);
      assert.equal(data()['pipe'], 'special', mode);
    }
    // One that the run itself has made goes, and one that it has removed cannot be made again.
    addTool('makes', `os.mkfifo('made'); os.remove('pipe'); os.remove('b.txt')\n`, 'snapshot');
    const undone = await project.envelope(['undo', await ran(['makes'])]);
    assert.deepEqual(undone.data.refused, [{ path: project.path('site/pipe'), why: 'special' }]);
    assert.deepEqual([data()['made'], data()['b.txt']], [undefined, 'two\n']);
  });

  it('undoes a change that kept the size and the time of the file', async () => {
    addTool(
      'sly',
      "s = os.stat('a.txt'); open('a.txt', 'w').write('eno\\n'); os.utime('a.txt', ns=(s.st_atime_ns, s.st_mtime_ns))\n",
      'snapshot',
    );
    const run = await ran(['sly']);
    assert.equal(data()['a.txt'], 'eno\n');
    assert.equal((await project.envelope(['undo', run])).ok, true);
    assert.deepEqual(data(), BEFORE);
  });

  it('works without a sandbox, and of a failed run', async () => {
    project.write('.acor/config.yaml', "version: 1\nsecurity: { isolation: 'off' }\n");
    addTool('fails', `${CHANGES}sys.exit(1)\n`, 'snapshot');
    const failed = await project.envelope(['run', '--no-stream', 'fails']);
    assert.equal(failed.ok, false);
    assert.deepEqual(data(), AFTER);
    assert.equal((await project.envelope(['undo', 'last'])).ok, true);
    assert.deepEqual(data(), BEFORE);
  });

  it('is not restored through a link that the tool has left', async () => {
    addTool('plants', "os.remove('sub/x.txt'); os.rmdir('sub'); os.symlink(victim, 'sub')\n", 'snapshot');
    const run = await ran(['plants']);
    assert.equal(data().sub, `-> ${project.path('victim')}`, 'the control: in place the link is there');
    assert.equal((await project.envelope(['undo', run])).ok, true);
    assert.deepEqual(data(), BEFORE);
    assert.deepEqual(readdirSync(project.path('victim')), []);
  });
});

describe('the changes of a run', { skip: skip || noTerminal }, () => {
  it('are put in place, or restored, by a person only, unless a policy leaves it to agents', async () => {
    addTool('layers', CHANGES, 'review');
    const run = await ran(['layers']);
    project.letAgents('undo');
    const refused = await project.envelope(['apply', run]);
    assert.deepEqual([refused.code, refused.error?.code], [2, 'E_APPROVAL_REQUIRED']);
    assert.equal(
      (await project.envelope(['undo', run])).error?.code,
      'E_USAGE',
      'the control: another decision',
    );
    project.letAgents('apply', 'undo');
    project.write('.acor/policy.yaml', 'agents_may: []\n');
    assert.equal((await project.envelope(['apply', run])).error?.code, 'E_APPROVAL_REQUIRED');
    project.write('.acor/policy.yaml', 'agents_may: [apply]\n');
    project.letAgents('allow_host');
    assert.equal((await project.envelope(['apply', run])).error?.code, 'E_APPROVAL_REQUIRED');
    rmSync(project.path('user-config/acor/policy.yaml'));
    const byProject = await project.envelope(['apply', run]);
    assert.equal(byProject.error?.code, 'E_APPROVAL_REQUIRED', 'a project alone leaves nothing to agents');
    assert.equal((await project.envelope(['apply', run, '--dry-run'])).ok, true);
    assert.deepEqual(data(), BEFORE);
    rmSync(project.path('.acor/policy.yaml'));
    const { code, text } = await atTerminal(['apply', run], {
      cwd: project.root,
      env: project.environment(),
    });
    assert.equal(code, 0, text);
    assert.deepEqual(data(), AFTER);
  });
});

describe('a workflow and a pipe whose steps keep changes', { skip }, () => {
  for (const [what, call] of [
    ['workflow', ['workflow', 'run', 'outer.json']],
    ['pipe', ['pipe', 'works', 'reads']],
  ] as const)
    it(`name the runs that have them, and what can be done with them: a ${what}`, async () => {
      addTool('works', CHANGES, 'review');
      addTool('reads', '', undefined, 'stdin: records\n');
      project.write(
        'outer.json',
        JSON.stringify({ steps: [{ name: 'sub', workflow: project.path('inner.json') }] }),
      );
      project.write('inner.json', JSON.stringify({ steps: [{ name: 'in', tool: 'works' }] }));
      const ended = await project.envelope([...call, '--no-stream']);
      const { run_id: parent } = ended.data;
      const [{ run_id: child }] = (await project.envelope(['runs', '--tool', 'works'])).data.runs;
      const next = [`acor diff ${child}`, `acor apply ${child}`, `acor discard ${child}`];
      assert.deepEqual(ended.meta.next, next);
      assert.deepEqual(project.events(parent).at(-1)!.next, next);

      const shown = await project.envelope(['show', parent]);
      assert.deepEqual(shown.data.undecided, [
        { path: project.path('site'), mode: 'review', state: 'pending', run_id: child },
      ]);
      assert.deepEqual(shown.meta.next, next);
      const words = `the changes of run ${parent} are in the runs of its steps: ${child}`;
      const diff = await project.envelope(['diff', parent]);
      assert.deepEqual([diff.data.changes, diff.meta.warnings, diff.meta.next], [[], [words], next]);
      for (const decision of ['apply', 'undo', 'discard']) {
        const { error, meta } = await project.envelope([decision, parent]);
        assert.deepEqual([error.code, error.message, meta.next], ['E_USAGE', words, next]);
      }

      await project.envelope(['apply', child]);
      assert.deepEqual(data(), AFTER);
      assert.equal((await project.envelope(['show', parent])).data.undecided, undefined);
      assert.match((await project.envelope(['apply', parent])).error.message, /has nothing to apply$/);
    });
});

describe('a tool that starts tools which keep changes', { skip }, () => {
  /** Starts the tool `works`, and writes a folder of its own. */
  function addCaller(name: string, called: string): void {
    mkdirSync(project.path('own'), { recursive: true });
    const write = '[{ path: own, mode: review }]';
    project.write(
      `tools/${name}/tool.yaml`,
      `name: ${name}\nversion: 1.0.0\nadapter: plain\npermissions: { commands: [acor], filesystem: { write: ${write} } }\n`,
    );
    project.write(
      `tools/${name}/cli.sh`,
      `#!/bin/bash\necho new >> '${project.path('own')}/${name}' && acor run ${called} > /dev/null\n`,
      0o755,
    );
  }

  const runOf = async (tool: string): Promise<string> =>
    (await project.envelope(['runs', '--tool', tool])).data.runs[0].run_id;
  const stepsOf = (run: string) => ['diff', 'apply', 'discard'].map((name) => `acor ${name} ${run}`);

  it('names the runs that have them beside its own changes, and a workflow does so at any depth', async () => {
    addTool('works', CHANGES, 'review');
    addCaller('calls', 'works');
    const ended = await project.envelope(['run', 'calls', '--no-stream']);
    const [parent, child] = [ended.data.run_id, await runOf('works')];
    const next = [...stepsOf(parent), ...stepsOf(child)];
    assert.deepEqual(ended.meta.next, next);
    assert.deepEqual(project.events(parent).at(-1)!.next, next);

    const own = { path: project.path('own'), mode: 'review', state: 'pending' };
    const ofChild = { path: project.path('site'), mode: 'review', state: 'pending', run_id: child };
    const shown = await project.envelope(['show', parent]);
    assert.deepEqual([shown.data.undecided, shown.meta.next], [[own, ofChild], next]);
    const words = `runs that run ${parent} has started keep changes: ${child}`;
    const diff = await project.envelope(['diff', parent]);
    assert.deepEqual(diff.meta.warnings, [words]);
    assert.deepEqual(diff.meta.next, next.slice(1));

    const applied = await project.envelope(['apply', parent]);
    assert.deepEqual([applied.data.left, applied.meta.next], [0, stepsOf(child)]);
    assert.deepEqual(data(), BEFORE, 'the control: the changes of the other run are not applied with it');
    const { error, meta } = await project.envelope(['apply', parent]);
    assert.deepEqual([error.code, error.message, meta.next], ['E_USAGE', words, stepsOf(child)]);
    await project.envelope(['apply', child]);
    assert.equal((await project.envelope(['show', parent])).data.undecided, undefined);

    rmSync(project.path('site'), { recursive: true });
    project.write('site/b.txt', '');
    project.write('site/sub/x.txt', '');
    addCaller('outer', 'calls');
    project.write('deep.json', JSON.stringify({ steps: [{ name: 'in', tool: 'outer' }] }));
    const flow = await project.envelope(['workflow', 'run', 'deep.json', '--no-stream']);
    const below = [await runOf('outer'), await runOf('calls'), await runOf('works')];
    assert.deepEqual(flow.meta.next, below.flatMap(stepsOf));
    const places = (await project.envelope(['show', flow.data.run_id])).data.undecided;
    assert.deepEqual(
      places.map(({ run_id }: { run_id: string }) => run_id),
      below,
    );
  });
});
