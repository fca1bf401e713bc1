import { join } from 'node:path';
import { IS_COMPILED } from '../../util/is-compiled.ts';
import { packageFolder } from '../registry/own-files.ts';

/**
 * The command of the program `acor`, and the variables that it needs: the compiled program, or Bun with the sources. In
 * Node or in the bundle of the library it is the launcher of the package, because the compiled program, where there is
 * one, supervises runs better.
 */
export function ownCommand(): { argv: [string, ...string[]]; env: Record<string, string> } {
  if (IS_COMPILED) return { argv: [process.execPath], env: {} };
  const root = packageFolder()!;
  const runsInBun = process.versions['bun'] !== undefined;
  if (!runsInBun || !import.meta.filename.endsWith('.ts')) {
    // The Node of this process may be in no folder of the PATH.
    return { argv: [join(root, 'acor')], env: runsInBun ? {} : { ACOR_NODE: process.execPath } };
  }
  const argv: [string, ...string[]] = [
    process.execPath,
    '--no-env-file',
    `--config=${join(root, 'bunfig.toml')}`,
    // Bun would otherwise apply the `paths` of a tsconfig.json in the working directory.
    `--tsconfig-override=${join(root, 'tsconfig.json')}`,
    join(root, 'src', 'cli', 'main.ts'),
  ];
  return { argv, env: {} };
}
