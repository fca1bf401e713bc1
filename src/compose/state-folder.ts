import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

type Env = Readonly<Record<string, string | undefined>>;

/** A folder below that of the user's state, made when it is not there: what the program remembers between its calls. */
export function stateFolder(program: string, part: string, env: Env): string {
  const base = env['XDG_STATE_HOME'] || join(env['HOME'] || homedir(), '.local', 'state');
  const folder = join(base, program, part);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}
