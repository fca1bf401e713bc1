import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

/** A folder of its own for everything that the benchmarks write, and the environment in which their programs run. */
export class Workplace {
  readonly folder = mkdtempSync(join(realpathSync(tmpdir()), 'acor-bench-'));
  /** The Python interpreter itself: a version manager's stand-in on the PATH would be measured along with it. */
  readonly python = execFileSync(
    'python3',
    ['-c', 'import os, sys; print(os.path.realpath(sys.executable))'],
    {
      encoding: 'utf8',
    },
  ).trim();
  /** What the programs are given: nothing by which an agent or a user's configuration would be noticed. */
  readonly env: Readonly<Record<string, string>> = {
    PATH: [dirname(this.python), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
    HOME: this.folder,
    LANG: 'C.UTF-8',
  };

  /** A new folder. */
  makeFolder(name: string): string {
    const folder = join(this.folder, name);
    mkdirSync(folder);
    return folder;
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
