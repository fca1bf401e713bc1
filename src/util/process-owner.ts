import { readlinkSync } from 'node:fs';
import { identify, isRunning } from './process-table.ts';
import { os } from './system.ts';

/** Identifies a process among all that may share a folder: a pid is only unique within its PID namespace. */
export interface ProcessOwner {
  /** The boot id of the machine; its host name where the system has no boot id. */
  host: string;
  /** The PID namespace, as the kernel names it; null where there are none. */
  pid_namespace: string | null;
  pid: number;
  /** Clock ticks since boot; distinguishes a process from a later one with the same pid. */
  start_time: number | null;
}

/** `elsewhere`: on another host, or in another PID namespace, which this process cannot inspect. */
export type OwnerState = 'running' | 'gone' | 'elsewhere';

let self: { owner: ProcessOwner; bootId: string | null } | undefined;

/** The identity of this process, for other processes to check later. */
export function ownIdentity(): ProcessOwner {
  return readSelf().owner;
}

/** Whether an owner is still running, as far as this process can see. */
export function stateOfOwner({ host, pid_namespace, pid, start_time }: ProcessOwner): OwnerState {
  const { owner, bootId } = readSelf();
  if (host !== owner.host || pid_namespace !== owner.pid_namespace) return 'elsewhere';
  return isRunning({ pid, start_time, boot_id: bootId }) ? 'running' : 'gone';
}

function readSelf(): { owner: ProcessOwner; bootId: string | null } {
  if (self === undefined) {
    const { pid, start_time, boot_id: bootId } = identify(process.pid);
    self = {
      owner: {
        host: bootId ?? os().hostname(),
        pid_namespace: pidNamespace(),
        pid,
        start_time,
      },
      bootId,
    };
  }
  return self;
}

function pidNamespace(): string | null {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return null;
  }
}
