import assert from 'node:assert/strict';
import { chmodSync, existsSync, rmSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type ProjectFolder, projectFolder } from '../../../test/support/project-folder.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { loadConfig } from '../config/load.ts';
import { commandOf, type ToolCommand } from './command.ts';
import { sdkPaths } from './own-files.ts';
import { Registry } from './registry.ts';

let project: ProjectFolder;
/** A PATH with nothing on it but what a test puts there. */
let bin: string;
beforeEach(() => {
  project = projectFolder();
  bin = project.folder('bin');
});
afterEach(() => project.remove());

describe('the command of a Python tool', () => {
  beforeEach(() => project.write('tools/t/cli.py', ''));

  it('is python3 from the PATH, with the SDK importable', async () => {
    const python = project.program('bin/python3', '');
    assert.deepEqual(await command(), {
      argv: [python, project.at('tools/t/cli.py')],
      warm: [python, join(sdkPaths().sdkWarm, 'start.py'), project.at('tools/t/cli.py')],
      runtime: python,
      env: { PYTHONPATH: sdkPaths().sdkPython, PYTHONDONTWRITEBYTECODE: '1' },
    });
  });

  it('is rather the shared environment, the hidden one, and the tool’s own one', async () => {
    project.program('bin/python3', '');
    for (const venv of ['tools/shared_venv', 'tools/t/.venv', 'tools/t/venv']) {
      const python = project.program(`${venv}/bin/python`, '');
      assert.equal((await command()).runtime, python);
    }
  });

  it('is not another Python than that of an environment that is broken', async () => {
    project.program('bin/python3', '');
    project.link('tools/t/venv/bin/python', '/nowhere/python3.99');
    const error = await failureOf(command());
    assert.equal(error.code, 'E_RUNTIME_MISSING');
    assert.match(error.hint!, /python3 -m venv --clear/);
  });

  it('names the install command when Python is missing', async () => {
    const error = await failureOf(command());
    assert.deepEqual([error.code, error.details?.['runtime']], ['E_RUNTIME_MISSING', 'python3']);
    assert.match(error.hint!, /python/);
  });
});

describe('the command of a tool', () => {
  it('in bash knows the shell SDK', async () => {
    project.write('tools/t/cli.sh', '');
    const bash = project.program('bin/bash', '');
    assert.deepEqual(await command(), {
      argv: [bash, project.at('tools/t/cli.sh')],
      runtime: bash,
      env: { ACOR_LIB: sdkPaths().sdkBash },
    });
  });

  it('in JavaScript is run by node', async () => {
    project.write('tools/t/cli.mjs', '');
    assert.equal((await failureOf(command())).code, 'E_RUNTIME_MISSING');
    const node = project.program('bin/node', '');
    const { argv } = await command();
    assert.deepEqual([argv[0], argv[2]], [node, project.at('tools/t/cli.mjs')]);
    assert.match(argv[1]!, /^--import=.*resolve-acor\.mjs$/);
  });

  it('in TypeScript is run by the Bun that comes with ACOR', async () => {
    project.write('tools/t/cli.ts', '');
    const { argv, env } = await command();
    assert.deepEqual(argv, [sdkPaths().ownBun!.program, '--no-install', project.at('tools/t/cli.ts')]);
    assert.deepEqual(env, { NODE_PATH: sdkPaths().sdkNode });
  });

  it('that can be started by itself is started so', async () => {
    const entry = project.program('tools/t/cli', '#!/bin/sh -e\n');
    project.write('tools/t/tool.yaml', 'language: executable\n');
    assert.deepEqual(await command(), { argv: [entry], runtime: entry, env: {} });
  });

  it('without the mode bit names the command that sets it', async () => {
    const entry = project.write('tools/t/cli.py', '');
    project.write('tools/t/tool.yaml', 'language: executable\n');
    const error = await failureOf(command());
    assert.equal(error.code, 'E_SPAWN_FAILED');
    assert.deepEqual(error.next, [{ command: `chmod +x '${entry}'`, why: 'Make the entry executable.' }]);
  });

  it('whose first line names a missing program reports that program', async () => {
    const entry = project.program('tools/t/cli', '#!/usr/bin/env -S rare-language --flag\n');
    const error = await failureOf(command());
    assert.deepEqual([error.code, error.details?.['runtime']], ['E_RUNTIME_MISSING', 'rare-language']);
    project.program('bin/rare-language', '');
    assert.deepEqual((await command()).argv, [entry]);
    project.program('tools/t/cli', '#!/nowhere/lang\n');
    assert.equal((await failureOf(command())).code, 'E_RUNTIME_MISSING');
  });

  it('that is a command is looked up on the caller’s PATH', async () => {
    project.write('tools/t/tool.yaml', 'command: [restic, backup]\n');
    assert.equal((await failureOf(command())).code, 'E_RUNTIME_MISSING');
    const restic = project.program('bin/restic', '');
    assert.deepEqual((await command()).argv, [restic, 'backup']);
  });

  it('that is a command with a path is looked for in the tool’s folder', async () => {
    project.write('tools/t/tool.yaml', 'command: [./run, -v]\n');
    assert.equal((await failureOf(command())).code, 'E_SPAWN_FAILED');
    const run = project.program('tools/t/run', '');
    assert.deepEqual((await command()).argv, [run, '-v']);
    chmodSync(run, 0o644);
    assert.equal((await failureOf(command())).code, 'E_SPAWN_FAILED');
  });

  it('is never looked up in the working directory', async () => {
    project.write('tools/t/cli.py', '');
    project.program('python3', '');
    const before = process.cwd();
    process.chdir(project.root);
    try {
      for (const PATH of ['', '.', ':', `relative:${bin}`]) {
        assert.equal((await failureOf(command({ PATH }))).code, 'E_RUNTIME_MISSING', PATH);
      }
      // The control: with its folder on the PATH, the same program is found.
      assert.equal((await command({ PATH: project.root })).runtime, project.at('python3'));
    } finally {
      process.chdir(before);
    }
  });

  it('is looked at again: an entry that has been replaced by a symlink since is refused', async () => {
    const entry = project.write('tools/t/cli.py', '');
    project.program('bin/python3', '');
    const { config, tool } = await load();
    rmSync(entry);
    project.link('tools/t/cli.py', project.write('elsewhere.py', ''));
    const error = await failureOf(commandOf(tool, config, { PATH: bin }));
    assert.equal(error.code, 'E_SPAWN_FAILED');
  });

  it('is found without starting anything', async () => {
    const trace = project.at('trace');
    for (const program of ['bin/python3', 'bin/python', 'bin/bash', 'bin/node'])
      project.program(program, `#!/bin/sh\ntouch '${trace}'\n`);
    project.write('tools/t/cli.py', '');
    assert.ok(isAbsolute((await command()).argv[0]!));
    assert.ok(!existsSync(trace));
  });
});

async function load() {
  const config = await loadConfig({ cwd: project.root, env: { HOME: project.at('no-home') } });
  return { config, tool: await Registry.open(config).find('t') };
}

async function command(env: Record<string, string> = { PATH: bin }): Promise<ToolCommand> {
  const { config, tool } = await load();
  return commandOf(tool, config, env);
}

async function failureOf(work: Promise<unknown>): Promise<AcorError> {
  const error = await work.then(
    () => assert.fail('it was accepted'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof AcorError, String(error));
  return error;
}
