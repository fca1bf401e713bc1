import { statSync } from 'node:fs';
import { environmentOf, processesWithEnvironment } from '../../util/process-table.ts';

/** Identifies the processes of a run. `folder` is the run's folder: in a copy of a store, a run has the same id and another folder. */
export interface RunIdentity {
  runId: string;
  folder: string;
}

/** Variables of a tool's environment with a path in the run's folder. A process may have changed one of them for its children. */
const VARIABLES = ['WORKSPACE', 'CANCEL_FILE'];

/** Every process with the run's id in its environment, without those of the same run in another store. */
export function processesOfRun(run: RunIdentity): number[] {
  return processesWithEnvironment('RUN_ID', run.runId).filter((pid) => isInFolderOf(pid, run));
}

/** Whether a process with the run's id belongs to the run in this folder. A process that names no folder does. */
export function isInFolderOf(pid: number, { runId, folder }: RunIdentity): boolean {
  const named = VARIABLES.flatMap((name) => runFolderIn(environmentOf(pid, name), runId));
  return named.length === 0 || named.some((each) => isSameFolder(each, folder));
}

/** Whether two paths lead to one folder, through links or not. */
export function isSameFolder(one: string, other: string): boolean {
  if (one === other) return true;
  try {
    const [a, b] = [statSync(one), statSync(other)];
    return a.ino === b.ino && a.dev === b.dev;
  } catch {
    return false;
  }
}

/** The folder of the run in a path that leads into it. */
function runFolderIn(path: string | undefined, runId: string): string[] {
  const end = path?.lastIndexOf(`/${runId}/`) ?? -1;
  return end === -1 ? [] : [path!.slice(0, end + 1 + runId.length)];
}
