import assert from 'node:assert/strict';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { bubblewrap } from '../../../src/core/sandbox/backends/bubblewrap.ts';
import { TestProject, until } from '../../support/project.ts';
import type { RunnerAttack } from './runner-attack.ts';

/** A project with a folder `site` that tools change, and one that they must not reach. */
function projectOf(mode: 'review' | 'snapshot', script: string): TestProject {
  const project = new TestProject();
  project.letAgents('apply', 'undo');
  project.write('site/a.txt', 'one\n');
  project.write('site/sub/x.txt', 'x\n');
  mkdirSync(project.path('victim'), { mode: 0o777 });
  project.write(
    'tools/works/tool.yaml',
    `name: works\nversion: 1.0.0\npermissions: { filesystem: { write: [{ path: site, mode: ${mode} }] } }\n`,
  );
  project.write(
    'tools/works/cli.py',
    `import os, sys, time\nvictim = ${JSON.stringify(project.path('victim'))}\nos.chdir(${JSON.stringify(project.path('site'))})\n${script}\nprint('{"type":"result","status":"ok"}')\n`,
  );
  return project;
}

async function ran(project: TestProject): Promise<string> {
  const { data, error } = await project.envelope(['run', '--no-stream', 'works']);
  assert.equal(data?.state, 'completed', JSON.stringify(error));
  return data.run_id;
}

async function noLayers(): Promise<string | undefined> {
  const { available, detail } = await bubblewrap.probe();
  return available ? undefined : `bubblewrap is not available here (${detail})`;
}

const ODD_NAMES = [
  ...['-rf', ' ', 'new\\nline', 'quote"\'', '$(touch x)', '\\u001b[2J', '..a', '.', 'a\\\\b'],
  ...['\\udcff\\udcfe', 'e\\u0301', '\\u202egnp'],
].filter((name) => name !== '.');

const odd: RunnerAttack = async () => {
  const cannot = await noLayers();
  if (cannot !== undefined) return cannot;
  using project = projectOf(
    'review',
    `names = [${ODD_NAMES.map((name) => `"${name.replaceAll('"', '\\"')}"`).join(', ')}]
for name in names:
    os.mkdir(name); open(name + '/f', 'w').write('odd')
os.symlink('../victim', 'up'); os.symlink(victim + '/in', 'absolute'); os.mkfifo('pipe')
os.symlink('sub', 'was'); os.rename('sub', 'moved'); os.symlink('../victim', 'sub')
try: open('sub/in', 'w').write('out')
except OSError: pass
# What overlays take for removals, second names of files outside, devices, and set-id bits.
for name in ['.wh.a.txt', '.wh..wh..opq']: open(name, 'w').close()
tried = [lambda: os.link(victim + '/file', 'hard'), lambda: os.mknod('null', 0o20666, os.makedev(1, 3)),
  lambda: os.mknod('whiteout', 0o20000, os.makedev(0, 0)), lambda: os.setxattr('moved', 'trusted.overlay.opaque', b'y'),
  lambda: os.rename('moved', victim + '/moved'), lambda: os.rename('.', victim + '/all')]
for each in tried:
    try: each()
    except OSError: pass
open('set-id', 'w').close()
try: os.chmod('set-id', 0o6755)
except OSError: os.chmod('set-id', 0o755)`,
  );
  project.write('victim/file', 'of another');
  const run = await ran(project);
  assert.deepEqual(readdirSync(project.path('site')).sort(), ['a.txt', 'sub'], 'nothing is in place');
  const { data, error } = await project.envelope(['apply', run]);
  assert.ok(data, JSON.stringify(error));
  const made = readdirSync(project.path('site'), { encoding: 'buffer' }).map((name) =>
    name.toString('latin1'),
  );
  for (const name of ['up', 'absolute', 'pipe', 'hard', 'null', 'whiteout'])
    assert.ok(!made.includes(name), name);
  assert.equal(readFileSync(project.path('site/a.txt'), 'utf8'), 'one\n', 'a name removes nothing');
  assert.equal(statSync(project.path('site/set-id')).mode & 0o7777, 0o755);
  // The control: what is odd but harmless is there.
  assert.equal(made.filter((name) => name !== 'a.txt').length >= ODD_NAMES.length, true, made.join('|'));
  assert.deepEqual(readdirSync(project.path('victim')), ['file']);
  assert.equal(statSync(project.path('victim/file')).nlink, 1);
  return undefined;
};

/** Swaps a folder for a link, again and again, while changes below it are settled. */
const races: RunnerAttack = async () => {
  const cannot = await noLayers();
  if (cannot !== undefined) return cannot;
  for (const [mode, settle] of [
    ['review', 'apply'],
    ['snapshot', 'undo'],
  ] as const) {
    using project = projectOf(mode, "for n in range(200): open(f'sub/{n}.txt', 'w').write(str(time.time()))");
    const [sub, away] = [project.path('site/sub'), project.path('away')];
    const first = await ran(project);
    assert.equal((await project.envelope([settle, first])).ok, true);
    assert.equal(readdirSync(sub).length, settle === 'apply' ? 201 : 1, 'the control: without the swaps');
    const run = await ran(project);
    let isOver = false;
    let swaps = 0;
    const swapping = (async () => {
      while (!isOver) {
        renameSync(sub, away);
        symlinkSync(project.path('victim'), sub);
        await new Promise((resolve) => setImmediate(resolve));
        rmSync(sub);
        renameSync(away, sub);
        swaps++;
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    for (let round = 0; round < 5; round++) await project.envelope([settle, run]);
    isOver = true;
    await swapping;
    assert.ok(swaps > 0);
    assert.deepEqual(readdirSync(project.path('victim')), []);
    // The folder itself is another one at the time of the command.
    const next = await ran(project);
    renameSync(project.path('site'), project.path('site-away'));
    symlinkSync(project.path('victim'), project.path('site'));
    const { error } = await project.envelope([settle, next]);
    assert.ok(error, `${settle} through a link`);
    assert.deepEqual(readdirSync(project.path('victim')), []);
  }
  return undefined;
};

const killed: RunnerAttack = async () => {
  using project = projectOf(
    'snapshot',
    "open('a.txt', 'w').write('changed')\nos.symlink(victim, 'link')\nprint('{\"type\":\"progress\",\"pct\":1}', flush=True)\ntime.sleep(10**6)",
  );
  const { data } = await project.envelope(['run', '--detach', 'works']);
  const run = String(data.run_id);
  await until(() => project.events(run).some(({ type }) => type === 'progress'));
  await project.killSupervisor(run);
  assert.equal(readFileSync(project.path('site/a.txt'), 'utf8'), 'changed', 'the control');
  const undone = await project.envelope(['undo', run]);
  assert.equal(undone.ok, true, JSON.stringify(undone));
  assert.equal(readFileSync(project.path('site/a.txt'), 'utf8'), 'one\n');
  assert.deepEqual(readdirSync(project.path('victim')), []);
};

const later: RunnerAttack = async () => {
  const cannot = await noLayers();
  if (cannot !== undefined) return cannot;
  using project = projectOf(
    'review',
    `os.makedirs('.git/hooks'); os.makedirs('.git/modules/m')
for path in ['.git/hooks/post-checkout', '.git/config', '.git/modules/m/config', '.envrc', 'Makefile', 'package.json', 'plain.txt']:
    open(path, 'w').write('{"scripts":{"postinstall":"x"}}')
os.chmod('a.txt', 0o755)`,
  );
  const run = await ran(project);
  const named = [
    '.git/hooks/post-checkout',
    '.git/config',
    '.git/modules/m/config',
    '.envrc',
    'Makefile',
    'package.json',
    'a.txt',
  ];
  for (const command of ['diff', 'apply']) {
    const { meta } = await project.envelope([command, run]);
    const warned = (path: string) =>
      meta.warnings.some((each: string) =>
        each.startsWith(`${project.path('site', path)} may be executed later`),
      );
    for (const path of named) assert.ok(warned(path), `${command}: ${path}`);
    assert.equal(warned('plain.txt'), false, 'the control');
  }
  return undefined;
};

const forged: RunnerAttack = async () => {
  const cannot = await noLayers();
  if (cannot !== undefined) return cannot;
  using project = projectOf('review', "os.mkdir('new'); open('new/n.txt', 'w').write('n')");
  const run = await ran(project);
  const dir = join(project.runsDir, run);
  const [id] = readdirSync(join(dir, 'kept')).filter((name) => !name.includes('.'));
  const change = async (path: string, from: string, to: string, check: () => Promise<void>) => {
    const text = readFileSync(join(dir, path), 'utf8');
    assert.ok(text.includes(from), path);
    writeFileSync(join(dir, path), text.replace(from, to));
    await check();
    writeFileSync(join(dir, path), text);
  };
  const refuses = async () =>
    assert.equal((await project.envelope(['apply', run])).error?.code, 'E_INTEGRITY');
  await change(`kept/${id}/after.json`, '"new/n.txt"', '"../victim/n.txt"', refuses);
  await change('kept/index.json', project.path('site'), project.path('victim'), refuses);
  const isUnverified = async () => {
    for (const args of [['show', run], ['logs', run], ['runs']])
      assert.match(String((await project.envelope(args)).meta.warnings), /is unverified/, args.join(' '));
  };
  await change('metadata.json', '"state":"completed"', '"state":"failed"', isUnverified);
  await change('events.jsonl', '"status":"ok"', '"status":"no"', isUnverified);
  assert.deepEqual(readdirSync(project.path('victim')), []);
  assert.equal((await project.envelope(['apply', run])).ok, true, 'the control');
  return undefined;
};

export const changes: Readonly<Record<number, RunnerAttack>> = {
  87: odd,
  88: races,
  89: killed,
  91: later,
  92: forged,
};
