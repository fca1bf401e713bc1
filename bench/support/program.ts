import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installedCommand } from '../../test/support/installed-package.ts';

/** The checkout that this benchmark stands in. */
export const CHECKOUT = fileURLToPath(new URL('../../', import.meta.url));
/** The Bun that builds and runs ACOR. */
export const BUN = join(CHECKOUT, 'node_modules/.bin/bun');

/** The programs that are measured. */
export interface Program {
  /** The compiled program. */
  acor: string;
  /** The launcher at the root of a checkout, which starts the compiled program. */
  launcher: string;
  /** The command as npm installs it. */
  installed: string;
  /** An empty program compiled in the same way: what the runtime takes to start and end. */
  empty: string;
}

/** Builds ACOR, by default of this checkout, and sets a copy aside, so that a build or an edit in the checkout does not change what is being measured. */
export function buildProgram(folder: string, checkout = CHECKOUT): Program {
  execFileSync('sh', [join(checkout, 'scripts/build.sh')], { stdio: ['ignore', 'ignore', 'inherit'] });
  const root = join(folder, 'acor');
  mkdirSync(join(root, 'dist'), { recursive: true });
  for (const part of ['acor', 'package.json', 'package-lock.json', 'src', 'sdk', 'dist/acor']) {
    cpSync(join(checkout, part), join(root, part), { recursive: true });
  }
  // The launcher starts the compiled program only while that is the newest.
  const now = new Date();
  utimesSync(join(root, 'dist/acor'), now, now);
  const empty = join(folder, 'empty');
  const source = join(CHECKOUT, 'bench/programs/empty.ts');
  const flags = ['--compile', '--minify', '--bytecode', '--format=esm', '--compile-jit-policy=30'];
  execFileSync(BUN, ['build', ...flags, source, '--outfile', empty], { stdio: 'ignore', cwd: folder });
  const acor = join(root, 'dist/acor');
  return {
    acor,
    launcher: join(root, 'acor'),
    installed: installedCommand(join(folder, 'installed'), root, acor),
    empty,
  };
}
