import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { measureArtifact } from '../../../src/core/store-files/artifacts.ts';
import { TestProject } from '../../support/project.ts';
import type { RunnerAttack } from './runner-attack.ts';

const REFUSED = [
  ['gone.txt', 'true', 'E_PROTOCOL'],
  ['link', 'ln -s /etc/passwd link', 'E_PERMISSION'],
  ['folder/passwd', 'ln -s /etc folder', 'E_PERMISSION'],
  ['/etc/passwd', 'true', 'E_PERMISSION'],
  ['../../../../../../../../etc/passwd', 'true', 'E_PERMISSION'],
  ['pipe', 'mkfifo pipe', 'E_PERMISSION'],
  ['b', 'echo a > a; ln a b', 'E_PERMISSION'],
  ['/dev/zero', 'true', 'E_PERMISSION'],
  ['holds', 'mkdir holds; ln -s /etc/passwd holds/link', 'E_PERMISSION'],
] as const;

const declared: RunnerAttack = async () => {
  using project = new TestProject({ tools: ['bad_artifact'] });
  for (const [path, make, code] of REFUSED) {
    const { end } = await project.run(['bad_artifact', '--make', make, '--path', path]);
    assert.deepEqual([end.state, end.code, end.artifacts], ['failed', code, []], path);
  }
  const { end } = await project.run(['bad_artifact', '--make', 'echo a > a; mkdir d', '--path', 'a']);
  assert.equal(end.state, 'completed', 'a plain file is none of these');
};

/** Replaces a file and a folder by links that lead outside, and back, in a loop. */
const RACER = `
import os, sys
os.chdir(sys.argv[1])
print('ready', flush=True)
while True:
    for name, target in [('file', sys.argv[2] + '/secret'), ('folder', sys.argv[2])]:
        os.rename(name, name + '-own'); os.symlink(target, name); os.unlink(name); os.rename(name + '-own', name)`;

const raced: RunnerAttack = async () => {
  using project = new TestProject();
  const work = realpathSync(project.path('tools'));
  mkdirSync(project.path('outside'));
  project.write('outside/secret', 'outside the project');
  project.write('tools/file', 'own');
  project.write('tools/folder/secret', 'own');
  const racer = spawn('python3', ['-c', RACER, work, project.path('outside')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(racer.stdout, 'data');
  const ended = once(racer, 'exit');
  try {
    const own = createHash('sha256').update('own').digest('hex');
    const paths = [join(work, 'file'), join(work, 'folder', 'secret')];
    let escapes = 0;
    // The control reads in the common way: it checks the real path, and then opens the path.
    for (let round = 0; round < 2000 || escapes === 0; round++) {
      for (const path of paths) {
        try {
          assert.equal(measureArtifact(path, [work]).sha256, own);
        } catch (error) {
          if ((error as { code?: string }).code === undefined || error instanceof assert.AssertionError)
            throw error;
        }
        try {
          if (realpathSync(path).startsWith(work) && readFileSync(path, 'utf8') !== 'own') escapes++;
        } catch {}
      }
    }
  } finally {
    racer.kill('SIGKILL');
    await ended;
  }
};

const NAMES = ['two\nlines', '\x1b[2J\x1b]52;c;UFdORUQ=\x07', '漢'.repeat(85), '"', '-rf', '\u202egnp.exe'];

const large: RunnerAttack = async () => {
  using project = new TestProject();
  const work = realpathSync(project.path('.acor'));
  const path = join(work, 'holes');
  writeFileSync(path, 'x');
  truncateSync(path, 100_000_000_000);
  assert.throws(() => measureArtifact(path, [work]), { code: 'E_PERMISSION', message: /holes/ });
  truncateSync(path, 1_000_000);
  assert.equal(measureArtifact(path, [work]).size, 1_000_000, 'a few holes are in order');
  const folder = join(work, 'many');
  mkdirSync(folder);
  for (let count = 0; count <= 10_000; count++) writeFileSync(join(folder, String(count)), '');
  assert.throws(() => measureArtifact(folder, [work]), {
    code: 'E_PERMISSION',
    message: /more than 10000 files/,
  });
  project.write(
    'tools/odd_names/cli.py',
    `import os\nfor name in ${JSON.stringify(NAMES)}: open(os.path.join(os.environ["ARTIFACTS_DIR"], name), "w").write("x")\nprint('{"type":"result","status":"ok"}')\n`,
  );
  const { end, of, stdout } = await project.run(['odd_names']);
  assert.equal(end.state, 'completed', stdout);
  const names = of('artifact').map((event) => String(event['path']).split('/').at(-1));
  assert.deepEqual(names.sort(), [...NAMES].sort());
  assert.equal(stdout.includes('\x1b'), false);
};

/** Its output is `out/sub/x`; then it puts a link there that leads to the folder `victim`. */
const SWAPS = `
import os, sys
folder, out = sys.argv[1].split('=')[1], sys.argv[2].split('=')[1]
open(out, 'w').write('planted')
if len(sys.argv) > 3:
    os.rename(folder + '/sub', folder + '/was')
    os.symlink('../victim', folder + '/sub')
print('{"type":"result","status":"ok"}')
`;

const swapped: RunnerAttack = async () => {
  using project = new TestProject();
  project.write(
    'tools/swaps/tool.yaml',
    'version: 1.0.0\ninputs:\n  - { name: folder, type: path, access: write, joined: true }\n  - { name: out, type: path, access: write, joined: true }\n  - { name: swap, type: bool }\n',
  );
  project.write('tools/swaps/cli.py', SWAPS);
  mkdirSync(project.path('out', 'sub'), { recursive: true });
  mkdirSync(project.path('victim'), { mode: 0o777 });
  const words = ['swaps', '--folder', 'out', '--out', 'out/sub/x'];
  const { end, stdout } = await project.run([...words, '--swap']);
  assert.deepEqual([end.state, end.code], ['failed', 'E_CONFLICT'], stdout);
  assert.deepEqual(readdirSync(project.path('victim')), []);
  rmSync(project.path('out'), { recursive: true });
  mkdirSync(project.path('out', 'sub'), { recursive: true });
  assert.equal((await project.run(words)).end.state, 'completed', 'without a link it is in order');
};

const nested: RunnerAttack = async () => {
  using project = new TestProject({ tools: ['quick'] });
  project.write(
    'tools/nests/cli.py',
    `import os\nfor _ in range(3000):\n    os.mkdir('d'); os.chdir('d')\nprint('{"type":"result","status":"ok"}')\n`,
  );
  assert.equal((await project.run(['nests'])).end.state, 'completed');
  assert.equal((await project.run(['quick'])).end.state, 'completed');
  assert.equal((await project.envelope(['clean', '--keep', '0'])).ok, true);
  assert.deepEqual(project.runIds(), []);
};

export const artifacts: Readonly<Record<number, RunnerAttack>> = {
  17: declared,
  18: raced,
  19: large,
  79: swapped,
  80: nested,
};
