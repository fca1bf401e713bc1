import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { LoadedConfig } from '../config/load.ts';

/**
 * The home folder of an executor in a project: what it writes of its own (sessions, above all) stays there from one run to the next, and the
 * user's own settings of it are out of its reach. It is state by the XDG specification, and no folder of ACOR's that is closed to tools.
 */
export function homeOf(
  { root }: LoadedConfig,
  executor: string,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const given = env['XDG_STATE_HOME'];
  const state = given && isAbsolute(given) ? given : join(env['HOME'] || homedir(), '.local', 'state');
  const project = createHash('sha256').update(root).digest('hex').slice(0, 16);
  return join(state, 'acor', 'tasks', project, executor);
}
