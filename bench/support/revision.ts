import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from './program.ts';

/** The sources of a git revision in a new folder, ready to be built. Throws when git does not know the revision. */
export function checkOut(revision: string, folder: string): { checkout: string; commit: string } {
  const git = (...args: string[]) => execFileSync('git', ['-C', CHECKOUT, ...args], { maxBuffer: 2 ** 30 });
  const commit = git('rev-parse', '--verify', '--short', `${revision}^{commit}`).toString().trim();
  const checkout = join(folder, 'checkout');
  mkdirSync(checkout);
  execFileSync('tar', ['-x', '-C', checkout], { input: git('archive', commit) });
  const lockOf = (root: string) => readFileSync(join(root, 'package-lock.json'), 'utf8');
  if (lockOf(checkout) === lockOf(CHECKOUT))
    symlinkSync(join(CHECKOUT, 'node_modules'), join(checkout, 'node_modules'));
  else
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], {
      cwd: checkout,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  return { checkout, commit };
}
