import { mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { errorCode } from '../util/error-code.ts';
import { AppError } from './app-error.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * A folder below that of the user's state, made when it is not there: what the program remembers between its calls. Throws
 * E_CONFIG_INVALID where it cannot be made.
 */
export function stateFolder(program: string, part: string, env: Env): string {
  const base = env['XDG_STATE_HOME'] || join(env['HOME'] || homedir(), '.local', 'state');
  const folder = join(base, program, part);
  try {
    makeFolder(folder);
  } catch (error) {
    throw notKept(folder, error);
  }
  return folder;
}

/** An error of the system about a file or folder of the state as what its user can solve. Any other one as it is. */
export function notKept(path: string, thrown: unknown): unknown {
  if (!(thrown instanceof Error) || !('syscall' in thrown)) return thrown;
  return new AppError('E_CONFIG_INVALID', `the state cannot be kept in ${path}: ${thrown.message}`, {
    hint: `Let your user make folders and files there, or set XDG_STATE_HOME to a folder where that is possible: XDG_STATE_HOME="$HOME/state"`,
    cause: thrown,
  });
}

/** Node's `recursive` never ends in /proc, where no folder can be made although the one above is there. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, 0o700);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EEXIST' && statSync(path).isDirectory()) return;
    if (code !== 'ENOENT') throw error;
    makeFolder(dirname(path));
    makeLast(path);
  }
}

/** Another process may have been faster. */
function makeLast(path: string): void {
  try {
    mkdirSync(path, 0o700);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}
