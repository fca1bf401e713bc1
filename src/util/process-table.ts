import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * A process in the kernel's table. `startTime` (clock ticks since boot) distinguishes it from a later one with the same
 * pid.
 */
export interface ProcessInfo {
  pid: number;
  parentPid: number;
  groupId: number;
  state: string;
  startTime: number;
}

/** A process on a certain boot of the machine, which a recycled pid cannot imitate. */
export interface ProcessIdentity {
  pid: number;
  start_time: number | null;
  boot_id: string | null;
}

/** Reads one process from /proc; undefined when it has ended or there is no /proc. */
export function readProcess(pid: number): ProcessInfo | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The command name is in parentheses and may itself contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    pid,
    state: fields[0]!,
    parentPid: Number(fields[1]),
    groupId: Number(fields[2]),
    startTime: Number(fields[19]),
  };
}

/** The identity of a live process, for another process to check later. */
export function identify(pid: number): ProcessIdentity {
  return { pid, start_time: startTimeOf(pid), boot_id: bootId() };
}

let ownStartTime: number | null | undefined;

/** That of this process is read once. */
function startTimeOf(pid: number): number | null {
  if (pid !== process.pid) return readProcess(pid)?.startTime ?? null;
  if (ownStartTime === undefined) ownStartTime = readProcess(pid)?.startTime ?? null;
  return ownStartTime;
}

/**
 * Whether the identified process is still running: not a zombie, not a later one with the same pid, not before a
 * reboot.
 */
export function isRunning(identity: ProcessIdentity): boolean {
  if (identity.boot_id !== bootId()) return false;
  if (identity.start_time === null) return respondsToSignals(identity.pid);
  if (identity.pid === process.pid) return identity.start_time === startTimeOf(process.pid);
  const now = readProcess(identity.pid);
  return now !== undefined && isAlive(now) && now.startTime === identity.start_time;
}

/** A zombie still has a pid and accepts signals, but runs no code. */
export function isAlive(process: ProcessInfo): boolean {
  return process.state !== 'Z' && process.state !== 'X';
}

/** The direct children of a process, of all its threads. */
export function childrenOf(pid: number): number[] {
  return listNumbers(`/proc/${pid}/task`).flatMap((thread) => childrenOfThread(pid, thread));
}

function childrenOfThread(pid: number, thread: number): number[] {
  const text = readText(`/proc/${pid}/task/${thread}/children`)?.trim();
  return text ? text.split(' ').map(Number) : [];
}

/** Orphans that this process has adopted, among its own children: the kernel gives them to its main thread. */
export function adoptedOrOwnChildren(): number[] {
  return childrenOfThread(process.pid, process.pid);
}

/** Every process whose initial environment contains `NAME=value`, as far as this user may read it. */
export function processesWithEnvironment(name: string, value: string): number[] {
  const wanted = `${name}=${value}`;
  return listNumbers('/proc').filter((pid) => readText(`/proc/${pid}/environ`)?.split('\0').includes(wanted));
}

/** The command line of a process; empty when it cannot be read. */
export function commandLineOf(pid: number): string {
  return readText(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ').trim() ?? '';
}

/** Every live process whose command line ends with these words. */
export function processesOfCommand(ending: string): number[] {
  return listNumbers('/proc').filter((pid) => commandLineOf(pid).endsWith(ending));
}

/** The working folder of a process; undefined when it cannot be read. */
export function workingFolderOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

/** The value of a variable in a process's initial environment. */
export function environmentOf(pid: number, name: string): string | undefined {
  const prefix = `${name}=`;
  const entry = readText(`/proc/${pid}/environ`)
    ?.split('\0')
    .find((line) => line.startsWith(prefix));
  return entry?.slice(prefix.length);
}

let cachedBootId: string | null | undefined;

/** Identifies the boot of the machine; null where the system has no such id. */
export function bootId(): string | null {
  cachedBootId ??= readText('/proc/sys/kernel/random/boot_id')?.trim() ?? null;
  return cachedBootId;
}

function respondsToSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function listNumbers(folder: string): number[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
