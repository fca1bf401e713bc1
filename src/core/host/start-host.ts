import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../util/error-code.ts';
import { processors } from '../../util/system.ts';
import { findProject } from '../config/find.ts';
import {
  foldersOfHosts,
  hostFolder,
  isLive,
  isPrivate,
  processesIn,
  removeIfLeft,
  START_LIMIT_MS,
  STARTING,
  variablesAtStart,
} from './host-folder.ts';

/** As many calls at once as this are answered by waiting processes; more run by themselves. */
const MAX_PROCESSES = Math.max(2, processors());
/** Of all hosts of a user: each project has its own, and so has each caller with other variables. */
const MAX_OF_USER = 4 * MAX_PROCESSES;

/**
 * Starts one more process of the host for later calls, in a session of its own, unless there are enough or one is starting. A caller that has found no
 * waiting process calls it after its own work, so it delays nothing and a failure changes nothing.
 */
export function startHost(cwd: string, env: Readonly<Record<string, string | undefined>>): void {
  const folder = hostFolder(cwd, env);
  if (folder === undefined) return;
  const others = foldersOfHosts(env).filter((each) => each !== folder);
  for (const each of others) removeIfLeft(each);
  const here = liveIn(folder);
  if (here >= MAX_PROCESSES || others.reduce((sum, each) => sum + liveIn(each), here) >= MAX_OF_USER) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!isPrivate(folder)) return;
  if (!announce(join(folder, STARTING))) return;
  const child = spawn(process.execPath, ['host', 'serve', '--cwd', findProject(cwd).root], {
    cwd: '/',
    env: variablesAtStart(env),
    detached: true,
    stdio: 'ignore',
  });
  child.on('error', () => {});
  child.unref();
}

function liveIn(folder: string): number {
  return processesIn(folder).filter(isLive).length;
}

/** Whether this process is the one that starts the next. The new process removes the file when it listens. */
function announce(file: string): boolean {
  try {
    closeSync(openSync(file, 'wx', 0o600));
    return true;
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') return false;
  }
  const since = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (Date.now() - since < START_LIMIT_MS) return false;
  try {
    unlinkSync(file);
  } catch {}
  return false;
}
