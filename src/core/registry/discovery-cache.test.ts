import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { names, openedRegistry } from '../../../test/support/opened-registry.ts';
import { type ProjectFolder, projectFolder } from '../../../test/support/project-folder.ts';

const SRC = join(import.meta.dirname, '..', '..');

let project: ProjectFolder;
const { open, list, find } = openedRegistry(() => project);
beforeEach(() => {
  project = projectFolder();
});
afterEach(() => project.remove());

describe('the cache of discovery', () => {
  const cacheFile = () => project.at('.runs/cache/discovery.json');

  it('is written once, and ignored by git', async () => {
    project.write('tools/a/cli.py', '');
    const written = await settled();
    await list();
    assert.equal(statSync(cacheFile()).mtimeMs, written);
    assert.equal(readFileSync(project.at('.runs/.gitignore'), 'utf8'), '*\n');
  });

  it('is read by the first question for a tool, and not by a command that asks for none', async () => {
    project.write('tools/a/cli.py', '');
    const registry = await open();
    await settled();
    assert.deepEqual(names(await registry.list()), ['a']);
    assert.equal(
      registry.revision,
      0,
      'it has read the folders again: its cache is from before they were kept',
    );
    const first = await open();
    assert.ok((first.paths ?? []).includes(project.at('tools/a')));
  });

  it('is enough for a warm start: neither YAML nor schemas are loaded', async () => {
    project.write('tools/a/cli.py', '');
    project.write('tools/a/tool.yaml', 'version: 1.2.3\n');
    await settled();
    // A copy of the sources, with no packages to be found anywhere near it.
    const copy = projectFolder();
    try {
      for (const part of ['protocol', 'util', 'core/config', 'core/registry']) {
        cpSync(join(SRC, part), copy.at(`src/${part}`), {
          recursive: true,
          filter: (path) => !path.endsWith('.test.ts'),
        });
      }
      copy.write('package.json', '{"type":"module"}');
      const program = copy.write(
        'main.ts',
        `import { loadConfig } from './src/core/config/load.ts';
         import { Registry } from './src/core/registry/registry.ts';
         import { resolveArguments } from './src/core/registry/arguments.ts';
         import './src/core/registry/command.ts';
         const cwd = process.argv[2]!;
         const config = await loadConfig({ cwd, env: { HOME: cwd } });
         const tool = await Registry.open(config).find('a');
         resolveArguments(tool, [], { cwd, roots: [cwd], protectedRoots: [], stagingDir: cwd });
         console.log(tool.manifest.version);`,
      );
      const start = () =>
        spawnSync(process.execPath, ['--no-install', program, project.root], { encoding: 'utf8', env: {} });
      const node = () => spawnSync(process.execPath, [program, project.root], { encoding: 'utf8', env: {} });
      const run = process.versions['bun'] ? start : node;
      assert.equal(run().stdout, '1.2.3\n');
      // The control: without the cache, the packages are missed.
      rmSync(cacheFile());
      assert.notEqual(run().status, 0);
    } finally {
      copy.remove();
    }
  });

  it('is stale at once when anything changes', async () => {
    project.write('tools/a/cli.py', '');
    project.write('tools/a/tool.yaml', 'version: 1.0.0\n');
    project.write('tools/note', '');
    const registry = await open();
    const seen = async () => {
      const tools = await registry.list();
      assert.deepEqual(tools, await list(), 'a new process sees the same');
      return tools.map(({ name, manifest, problems, language }) =>
        `${name} ${manifest.version} ${language} ${problems.map(({ rule }) => rule)}`.trim(),
      );
    };
    const steps: [string, () => void, string[]][] = [
      ['nothing', () => {}, ['a 1.0.0 python']],
      [
        'a manifest of the same size',
        () => project.write('tools/a/tool.yaml', 'version: 2.0.0\n'),
        ['a 2.0.0 python'],
      ],
      [
        'a manifest with its old times',
        () => {
          const { atime, mtime } = statSync(project.at('tools/a/tool.yaml'));
          project.write('tools/a/tool.yaml', 'version: 3.0.0\n');
          utimesSync(project.at('tools/a/tool.yaml'), atime, mtime);
        },
        ['a 3.0.0 python'],
      ],
      ['a new tool', () => project.write('tools/b/cli.sh', ''), ['a 3.0.0 python', 'b 0.0.0 bash']],
      [
        'a mode bit',
        () => project.program('tools/note', '#!/bin/sh\n'),
        ['a 3.0.0 python', 'b 0.0.0 bash', 'note 0.0.0 bash'],
      ],
      [
        'a first line',
        () => project.write('tools/note', '#!/usr/bin/python3\n'),
        ['a 3.0.0 python', 'b 0.0.0 bash', 'note 0.0.0 python'],
      ],
      [
        'a manifest in a registry that did not exist',
        () => project.write('tools/registry/a/tool.yaml', 'version: 4.0.0\n'),
        ['a 4.0.0 python', 'b 0.0.0 bash', 'note 0.0.0 python'],
      ],
      [
        'a broken manifest',
        () => project.write('tools/registry/a/tool.yaml', 'versoin: 4.0.0\n'),
        ['a 0.0.0 python unknown-key', 'b 0.0.0 bash', 'note 0.0.0 python'],
      ],
      [
        'a removed manifest',
        () => rmSync(project.at('tools/registry/a/tool.yaml')),
        ['a 3.0.0 python', 'b 0.0.0 bash', 'note 0.0.0 python'],
      ],
      [
        'another entry',
        () => renameSync(project.at('tools/a/cli.py'), project.at('tools/a/cli.js')),
        ['a 3.0.0 node', 'b 0.0.0 bash', 'note 0.0.0 python'],
      ],
      [
        'a removed tool',
        () => rmSync(project.at('tools/b'), { recursive: true }),
        ['a 3.0.0 node', 'note 0.0.0 python'],
      ],
      [
        'a tools folder that did not exist',
        () => project.write('.acor/tools/z/cli.py', ''),
        ['a 3.0.0 node', 'note 0.0.0 python', 'z 0.0.0 python'],
      ],
    ];
    for (const [what, change, expected] of steps) {
      change();
      assert.deepEqual(await seen(), expected, what);
    }
  });

  it('does not matter when it is damaged, of another version, or cannot be written', async () => {
    project.write('tools/a/cli.py', '');
    await settled();
    for (const text of ['', '{', 'null', '[]', '{"version":1}', '{"version":0,"units":{}}']) {
      project.write('.runs/cache/discovery.json', text);
      assert.deepEqual(names(await list()), ['a'], text);
    }
    await list();
    const cache = JSON.parse(readFileSync(cacheFile(), 'utf8'));
    for (const signatures of [{}, 'text', [null], ['ab']]) {
      const units = cache.units.map(([id, , value]: unknown[]) => [id, signatures, value]);
      project.write('.runs/cache/discovery.json', JSON.stringify({ ...cache, units }));
      assert.deepEqual(names(await list()), ['a'], JSON.stringify(signatures));
    }
    rmSync(project.at('.runs'), { recursive: true });
    project.write('.runs', 'a file where the folder should be');
    assert.deepEqual(names(await list()), ['a']);
  });

  it('is not used for another configuration, and not at all with a time of 0', async () => {
    project.write('tools/a/cli.py', '');
    project.write('mine/b/cli.py', '');
    await settled();
    project.write('.acor/config.yaml', 'project: {tools_dirs: [mine]}\n');
    assert.deepEqual(names(await list()), ['b']);
    rmSync(project.at('.runs'), { recursive: true });
    project.write('.acor/config.yaml', 'discovery: {cache_ttl: 0}\n');
    assert.deepEqual(names(await list()), ['a']);
    assert.ok(!existsSync(project.at('.runs')));
  });

  it('that came along with a copy of the project is not believed', async () => {
    project.write('tools/a/cli.py', '');
    await settled();
    const cache = JSON.parse(readFileSync(believed('6.6.6'), 'utf8'));
    // The control: where the cache was made, what it says counts.
    assert.equal((await find('a')).manifest.version, '6.6.6');
    rmSync(project.root, { recursive: true });
    project.write('tools/a/cli.py', '');
    project.write('.runs/cache/discovery.json', JSON.stringify(cache));
    assert.equal((await find('a')).manifest.version, '0.0.0');
  });

  it('that is a link or a pipe is not read, and is replaced', async () => {
    project.write('tools/a/cli.py', '');
    await settled();
    renameSync(believed('6.6.6'), project.at('elsewhere.json'));
    symlinkSync(project.at('elsewhere.json'), cacheFile());
    assert.equal((await find('a')).manifest.version, '0.0.0');
    assert.ok(lstatSync(cacheFile()).isFile());
    // The control: the same file in its place counts.
    renameSync(project.at('elsewhere.json'), cacheFile());
    assert.equal((await find('a')).manifest.version, '6.6.6');
    rmSync(cacheFile());
    spawnSync('mkfifo', [cacheFile()]);
    assert.equal((await find('a')).manifest.version, '0.0.0');
    assert.ok(lstatSync(cacheFile()).isFile());
  });

  const others = [
    ['the group may write', () => chmodSync(cacheFile(), 0o664)],
    ['all may write', () => chmodSync(cacheFile(), 0o646)],
  ] as const;
  for (const [what, change] of others)
    it(`that ${what} is not believed, and is replaced by an own one`, async () => {
      project.write('tools/a/cli.py', '');
      await settled();
      believed('6.6.6');
      // The control: the same file, which only this user can have written.
      assert.equal((await find('a')).manifest.version, '6.6.6');
      change();
      assert.equal((await find('a')).manifest.version, '0.0.0');
      const { uid, mode } = statSync(cacheFile());
      assert.deepEqual([uid, mode & 0o022], [process.getuid!(), 0]);
    });

  const skip = process.getuid?.() !== 0 && 'only root can give files away';
  it('that belongs to another user is not believed and stays, beside an own one that is', {
    skip,
  }, async () => {
    project.write('tools/a/cli.py', '');
    await settled();
    believed('6.6.6');
    assert.equal((await find('a')).manifest.version, '6.6.6', 'the control');
    chownSync(cacheFile(), 12_345, 12_345);
    const others = readFileSync(cacheFile(), 'utf8');
    assert.equal((await find('a')).manifest.version, '0.0.0');
    assert.equal(readFileSync(cacheFile(), 'utf8'), others);
    const own = project.at('.runs/cache/discovery-0.json');
    const cache = JSON.parse(readFileSync(own, 'utf8'));
    const unit = cache.units.find(([id]: [string]) => id.startsWith('tool:'));
    unit[2].manifest.version = '7.7.7';
    unit[1] = [];
    project.write('.runs/cache/discovery-0.json', JSON.stringify(cache));
    assert.equal((await find('a')).manifest.version, '7.7.7');
  });

  it('that was written in the future, before the clock was set back, is not believed', async () => {
    project.write('tools/a/cli.py', '');
    await settled();
    const cache = JSON.parse(readFileSync(believed('6.6.6'), 'utf8'));
    const later = { ...cache, read_at_ms: Date.now() + 3_600_000 };
    project.write('.runs/cache/discovery.json', JSON.stringify(later));
    assert.equal((await find('a')).manifest.version, '0.0.0');
    // The control: with the time of its writing it counts.
    project.write('.runs/cache/discovery.json', JSON.stringify(cache));
    assert.equal((await find('a')).manifest.version, '6.6.6');
  });

  it('holds a thousand tools', async () => {
    for (let i = 0; i < 1000; i++) {
      project.write(`tools/tool_${i}/cli.py`, '');
      if (i % 50 === 0) project.write(`tools/tool_${i}/tool.yaml`, `version: 1.0.${i}\n`);
    }
    assert.equal((await list()).length, 1000);
    const again = await list();
    assert.equal(again.length, 1000);
    assert.equal(again.find(({ name }) => name === 'tool_950')?.manifest.version, '1.0.950');
  });

  it('survives questions that are asked at once', async () => {
    project.write('tools/a/cli.py', '');
    const registry = await open();
    const [one, two, tool] = await Promise.all([registry.list(), registry.list(), registry.find('a')]);
    assert.deepEqual(one, two);
    assert.equal(tool.name, 'a');
  });

  /** Makes the cache say that the tool has this version, whatever its manifest says. */
  function believed(version: string): string {
    const cache = JSON.parse(readFileSync(cacheFile(), 'utf8'));
    const unit = cache.units.find(([id]: [string]) => id.startsWith('tool:'));
    unit[2].manifest.version = version;
    unit[1] = [];
    return project.write('.runs/cache/discovery.json', JSON.stringify(cache));
  }

  /** Lists until the cache is no longer rewritten: a file that changed a moment ago is read again. Returns the time of the last write. */
  async function settled(): Promise<number> {
    for (let last = 0; ; ) {
      await list();
      const now = existsSync(cacheFile()) ? statSync(cacheFile()).mtimeMs : 0;
      if (now !== 0 && now === last) return now;
      last = now;
    }
  }
});
