import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The files of the project that git knows or would add. */
export function projectFiles(root: string): string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return listed.split('\0').filter((file) => file !== '' && existsSync(join(root, file)));
}

/** A copy of the project in a folder of its own, with a folder for the temporary files of its tests. Faults are put only here. */
export class ScratchTree {
  readonly root: string;
  readonly #folder: string;
  #isBuilt = false;

  constructor(project: string, files: readonly string[]) {
    this.#folder = realpathSync(mkdtempSync(join(tmpdir(), 'acor-mutate-')));
    this.root = join(this.#folder, 'tree');
    for (const file of files) {
      mkdirSync(dirname(join(this.root, file)), { recursive: true });
      cpSync(join(project, file), join(this.root, file), { verbatimSymlinks: true });
    }
    symlinkSync(realpathSync(join(project, 'node_modules')), join(this.root, 'node_modules'));
    mkdirSync(this.temporary);
  }

  get temporary(): string {
    return join(this.#folder, 'tmp');
  }

  read(file: string): string {
    return readFileSync(join(this.root, file), 'utf8');
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.root, file), text);
  }

  /** Compiles the program that the end-to-end tests start; false if it does not build. */
  build(): boolean {
    this.#isBuilt = spawnSync('sh', ['scripts/build.sh'], { cwd: this.root, stdio: 'ignore' }).status === 0;
    return this.#isBuilt;
  }

  get isBuilt(): boolean {
    return this.#isBuilt;
  }

  /** Kills what the tests left running and removes their files: a fault in the stopping of tools leaves processes behind. */
  clean(): void {
    for (const pid of this.#processes()) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It exited in the meantime.
      }
    }
    rmSync(this.temporary, { recursive: true, force: true });
    mkdirSync(this.temporary);
  }

  [Symbol.dispose](): void {
    this.clean();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** The processes whose program or working folder is in this copy. */
  #processes(): number[] {
    if (process.platform !== 'linux') return [];
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids
      .filter((pid) => ['exe', 'cwd'].some((link) => linkOf(pid, link).startsWith(`${this.#folder}/`)))
      .map(Number)
      .filter((pid) => pid !== process.pid);
  }
}

function linkOf(pid: string, link: string): string {
  try {
    return readlinkSync(`/proc/${pid}/${link}`);
  } catch {
    return '';
  }
}
