import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { TestProject } from '../support/project.ts';

const BIN = join(dirname(dirname(import.meta.dirname)), 'node_modules', '.bin');

const JAVASCRIPT = `import { emitResult, emitStart } from 'acor/tool';
emitStart('hello', {});
emitResult({ data: { runtime: process.versions.bun ? 'bun' : 'node', args: process.argv.slice(2) } });
`;

const COMMONJS = JAVASCRIPT.replace(/^import (.*) from (.*);/, 'const $1 = require($2);');

/** A tool in each language, on the SDK of that language, in a project that has installed nothing. */
const TOOLS: Readonly<Record<string, string>> = {
  'in_python/cli.py':
    'import sys\nfrom acor.protocol import emit_start, emit_result\nemit_start("hello")\nemit_result(data={"args": sys.argv[1:]})\n',
  'in_bash/cli.sh': 'source "$ACOR_LIB/acor.sh"\nemit_start hello\nemit_result ok\n',
  'in_typescript/cli.ts': `const typed: string = 'x';\n${JAVASCRIPT}void typed;\n`,
  'in_node/main.mjs': JAVASCRIPT,
  'in_commonjs/main.cjs': COMMONJS,
  'in_old_commonjs/main.js': COMMONJS,
  in_awk:
    '#!/usr/bin/awk -f\nBEGIN { print "{\\"type\\":\\"start\\",\\"step\\":\\"hello\\"}"; print "{\\"type\\":\\"result\\",\\"status\\":\\"ok\\"}" }\n',
};

describe('a tool without installed packages finds its SDK', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject();
    for (const [path, text] of Object.entries(TOOLS)) project.write(`tools/${path}`, text, 0o755);
  });
  after(() => project[Symbol.dispose]());

  for (const language of ['python', 'bash', 'typescript', 'node', 'commonjs', 'old_commonjs', 'awk']) {
    const program = { python: 'python3', typescript: 'bash', bash: 'bash', awk: 'awk' }[language] ?? 'node';
    const isThere = spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
    it(`in ${language}`, isThere ? {} : { skip: `${program} is not here` }, async () => {
      const { end, of, stdout } = await project.run([`in_${language}`, 'one', '--two'], {
        env: { PATH: `${BIN}:${process.env.PATH}` },
      });
      assert.equal(end.state, 'completed', stdout);
      assert.equal(of('start')[0]!.step, 'hello');
      assert.deepEqual(of('runner_warning'), []);
    });
  }

  it('that is CommonJS says what to write where Node cannot require a module', async () => {
    const hooks = join(dirname(BIN), '..', 'sdk', 'node', 'resolve-acor.mjs');
    const call = ['--no-experimental-require-module', `--import=${hooks}`];
    const { stderr } = spawnSync('node', [...call, project.path('tools/in_commonjs/main.cjs')]);
    assert.match(String(stderr), /await import\('acor\/tool'\)|a dynamic import\(\)/);
  });

  it('and outside of ACOR with the paths that a run shows', async () => {
    const { stdout } = await project.acor(['exec', '--format', 'text', '--', 'printenv', 'ACOR_LIB']);
    const folder = stdout.trim();
    const env = { ...process.env, ACOR_LIB: folder, PYTHONPATH: join(dirname(folder), 'python') };
    for (const [program, path] of [
      ['bash', 'in_bash/cli.sh'],
      ['python3', 'in_python/cli.py'],
    ] as const) {
      const ran = spawnSync(program, [project.path('tools', path)], { env });
      assert.match(String(ran.stdout), /"type": ?"result"/, String(ran.stderr));
    }
  });

  it('through the shim of a version manager, which is a script that starts other scripts', async () => {
    const manager = mkdtempSync(join(tmpdir(), 'acor-manager-'));
    const { stdout: system } = spawnSync('python3', ['-c', 'import sys; print(sys.executable, end="")']);
    const programs = {
      'shims/python3': `program="\${0##*/}"\nexec "${manager}/libexec/manager" exec "$program" "$@"\n`,
      'libexec/manager': `shift\nexec "${manager}/versions/$(basename 3.11/)/bin/$1" "\${@:2}"\n`,
    };
    for (const [path, text] of Object.entries(programs)) {
      mkdirSync(dirname(join(manager, path)), { recursive: true });
      writeFileSync(join(manager, path), `#!/usr/bin/env bash\n${text}`, { mode: 0o755 });
    }
    chmodSync(manager, 0o755);
    mkdirSync(join(manager, 'versions/3.11/bin'), { recursive: true });
    cpSync(realpathSync(String(system)), join(manager, 'versions/3.11/bin/python3'));
    const { end, of, stdout } = await project.run(['in_python', 'one'], {
      env: { PATH: `${join(manager, 'shims')}:${process.env.PATH}` },
    });
    rmSync(manager, { recursive: true });
    assert.equal(end.state, 'completed', stdout);
    assert.deepEqual(of('runner_warning'), []);
  });

  it('in a virtual environment of its own, before the shared one', async () => {
    project.write(
      'tools/in_venv/cli.py',
      'import json, sys\nprint(json.dumps({"type": "result", "status": "ok", "data": {"python": sys.argv[0]}}))\n',
    );
    project.write(
      'tools/in_venv/venv/bin/python',
      '#!/bin/sh\necho \'{"type":"log","level":"info","msg":"own venv"}\'\nexec python3 "$@"\n',
      0o755,
    );
    project.write(
      'tools/shared_venv/bin/python',
      '#!/bin/sh\necho \'{"type":"log","level":"info","msg":"shared venv"}\'\nexec python3 "$@"\n',
      0o755,
    );
    assert.equal((await project.run(['in_venv'])).of('log')[0]!.msg, 'own venv');
    assert.equal((await project.run(['in_python'])).of('log')[0]!.msg, 'shared venv');
  });
});
