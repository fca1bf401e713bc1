import { isFinal } from '../../src/protocol/run.ts';
import { commandLineOf, isRunning, type ProcessInfo, readProcess } from '../../src/util/process-table.ts';
import { processesOf } from '../support/project.ts';
import { watchdogsOf } from '../support/watchdogs.ts';
import type { Lane } from './lane.ts';
import type { Victim } from './round-plan.ts';

/** Who takes part in a run besides what its record names. */
export interface Cast {
  lane: Lane;
  runId: string | undefined;
  callerPid: number;
  /** Whether the caller itself supervises. */
  isSupervisedHere: boolean;
  followerPids: readonly number[];
}

/** The processes to kill for one victim, in this order; none while there is no such process. */
export function findVictim(victim: Victim, cast: Cast): number[] {
  const { runId, callerPid, followerPids } = cast;
  switch (victim) {
    case 'caller':
      return [callerPid];
    case 'follower':
      return followerPids.slice(0, 1);
    case 'supervisor':
      return supervisorOf(cast);
    case 'both': {
      const watchdogs = runId === undefined ? [] : watchdogsOf(runId);
      return watchdogs.length === 0 ? [] : [...watchdogs, ...supervisorOf(cast)];
    }
    case 'tool':
      return membersOf(cast).slice(0, 1);
    case 'grandchild':
      return membersOf(cast)
        .filter((pid) => commandLineOf(pid) === 'sleep 600')
        .slice(-1);
  }
}

function supervisorOf({ lane, runId, callerPid, isSupervisedHere }: Cast): number[] {
  if (isSupervisedHere) return [callerPid];
  const record = runId === undefined ? undefined : lane.recordOf(runId);
  if (record !== undefined && !isFinal(record.state) && isRunning(record.supervisor))
    return [record.supervisor.pid];
  return lane.supervisorsAtWork().slice(0, 1);
}

/** The processes of the tool, the one that was started first before all others. */
function membersOf({ runId }: Cast): number[] {
  if (runId === undefined) return [];
  return processesOf(runId)
    .map((pid) => readProcess(pid))
    .filter((info): info is ProcessInfo => info !== undefined)
    .sort((a, b) => a.startTime - b.startTime || a.pid - b.pid)
    .map(({ pid }) => pid);
}
