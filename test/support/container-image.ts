import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Engine } from '../../src/core/sandbox/backends/engine.ts';

const IMAGE = 'localhost/acor-test-tools';
/** What the contract's tools call. */
const PROGRAMS =
  'bash sh perl awk mawk cat chmod echo env false grep head id kill ln ls mkdir mktemp mv rm sed setsid sleep sort touch tr true wc';
/** Where /usr is one with the root, these are links into it. */
const LINKED = ['bin', 'sbin', 'lib', 'lib64'];

/** An engine that works here with an image made of this machine's own programs, without a network; or why there is none. */
export function engineHere():
  | { settings: { image: string; command: readonly string[] } }
  | { reason: string } {
  const reasons: string[] = [];
  for (const name of ['podman', 'docker']) {
    const command = [name, 'run'];
    const engine = new Engine({ command });
    const program = engine.program?.path;
    if (program === undefined) {
      reasons.push(`there is no ${name}`);
      continue;
    }
    const call = (words: string[]) => {
      const [file, ...args] = engine.other(program, words);
      return spawnSync(file, args, { env: engine.env, encoding: 'utf8' });
    };
    const answer = call(['info']);
    if (answer.status !== 0) {
      reasons.push(`${name} does not work: ${answer.stderr.trim().split('\n').at(-1)}`);
      continue;
    }
    const archive = archiveOfPrograms();
    try {
      const made = call(['import', archive.path, IMAGE]);
      if (made.status === 0) return { settings: { command, image: IMAGE } };
      reasons.push(`${name} takes no image: ${made.stderr.trim().split('\n').at(-1)}`);
    } finally {
      archive.remove();
    }
  }
  return { reason: reasons.join('; ') };
}

function archiveOfPrograms(): { path: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'acor-image-'));
  const root = join(folder, 'root');
  for (const name of ['usr/bin', 'tmp', 'proc', 'sys', 'dev', 'etc', 'run', 'var/tmp'])
    mkdirSync(join(root, name), { recursive: true });
  for (const name of LINKED) {
    mkdirSync(join(root, 'usr', name), { recursive: true });
    symlinkSync(`usr/${name}`, join(root, name));
  }
  for (const name of PROGRAMS.split(' ')) {
    const path = ['/usr/bin', '/bin'].map((each) => join(each, name)).find((each) => existsSync(each));
    if (path === undefined) continue;
    copyFileSync(path, join(root, 'usr/bin', name));
    const { stdout } = spawnSync('ldd', [path], { encoding: 'utf8' });
    for (const [library] of stdout.matchAll(/\/(usr\/)?lib\S+/g)) {
      const at = join(root, library.startsWith('/usr') ? library : `/usr${library}`);
      mkdirSync(dirname(at), { recursive: true });
      copyFileSync(library, at);
    }
  }
  chmodSync(join(root, 'tmp'), 0o1777);
  const path = join(folder, 'image.tar');
  execFileSync('tar', ['-C', root, '-cf', path, '.']);
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
