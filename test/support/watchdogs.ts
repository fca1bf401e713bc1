import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { commandLineOf, readProcess, workingFolderOf } from '../../src/util/process-table.ts';

/** The watchdogs that wait or kill for a run with this id in any store, without their subshells. */
export function watchdogsOf(runId: string): number[] {
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => basename(workingFolderOf(pid) ?? '') === runId)
    .filter((pid) => / acor-watchdog \d+$/.test(commandLineOf(pid)));
  return pids.filter((pid) => !pids.includes(readProcess(pid)?.parentPid ?? 0));
}
