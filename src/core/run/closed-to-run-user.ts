import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { closedAbove } from '../sandbox/identity/closed-folders.ts';
import { canGiveUsers, FIRST_RUN_UID } from '../sandbox/identity/run-users.ts';
import type { ModeDenial } from './denied-by-mode.ts';
import type { ToolPlan } from './plan/tool-plan.ts';

/** The folders of no user of a run. */
const RUN_USER = { uid: FIRST_RUN_UID, gid: FIRST_RUN_UID };

/** The folders above a path that the user of a run of root may not enter; undefined in a sandbox that mounts the path, or for another user. */
export function closedToRunUser(
  path: string,
  { sandboxed }: Pick<ToolPlan, 'sandboxed'>,
): ModeDenial | undefined {
  if (sandboxed.isolation.backend !== 'landlock' || !canGiveUsers()) return undefined;
  const closed = closedAbove([path, realOf(path)].map(dirname), RUN_USER);
  if (closed === undefined) return undefined;
  const { names, fix } = closed;
  return {
    why: `${path} is below ${names}, which the Unix user of the run, who is not root, may not enter`,
    fix,
  };
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
