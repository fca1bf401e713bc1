import { readdirSync, readFileSync } from 'node:fs';

/** A process as the kernel knows it. `startTime` (clock ticks since boot) tells it from a later one of the same pid. */
export interface ProcessInfo {
  pid: number;
  parentPid: number;
  groupId: number;
  state: string;
  startTime: number;
}

/** Which process, on which boot of the machine: what a recycled pid cannot fake. */
export interface ProcessIdentity {
  pid: number;
  start_time: number | null;
  boot_id: string | null;
}

/** Reads one process from /proc; undefined when it is gone or where there is no /proc. */
export function readProcess(pid: number): ProcessInfo | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The command name stands in parentheses and may itself hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    pid,
    state: fields[0]!,
    parentPid: Number(fields[1]),
    groupId: Number(fields[2]),
    startTime: Number(fields[19]),
  };
}

/** The identity of a living process, for another process to check later. */
export function identify(pid: number): ProcessIdentity {
  return { pid, start_time: readProcess(pid)?.startTime ?? null, boot_id: bootId() };
}

/** Whether the process that was identified still runs: not a zombie, not another one of the same pid, not before a reboot. */
export function isRunning(identity: ProcessIdentity): boolean {
  if (identity.boot_id !== bootId()) return false;
  if (identity.start_time === null) return respondsToSignals(identity.pid);
  const now = readProcess(identity.pid);
  return now !== undefined && isAlive(now) && now.startTime === identity.start_time;
}

/** A zombie still has a pid and takes signals, but nothing of it runs. */
export function isAlive(process: ProcessInfo): boolean {
  return process.state !== 'Z' && process.state !== 'X';
}

/** The direct children of a process, of all its threads. */
export function childrenOf(pid: number): number[] {
  const children: number[] = [];
  for (const thread of listNumbers(`/proc/${pid}/task`)) {
    const text = readText(`/proc/${pid}/task/${thread}/children`);
    if (text) for (const child of text.trim().split(' ')) if (child) children.push(Number(child));
  }
  return children;
}

/** Every process of the machine whose starting environment holds `NAME=value`, as far as this user may look. */
export function processesWithEnvironment(name: string, value: string): number[] {
  const wanted = `${name}=${value}`;
  return listNumbers('/proc').filter((pid) => readText(`/proc/${pid}/environ`)?.split('\0').includes(wanted));
}

/** What a process was started with, as one line; empty when it cannot be read. */
export function commandLineOf(pid: number): string {
  return readText(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ').trim() ?? '';
}

/** Every living process of the machine whose command line ends with these words. */
export function processesOfCommand(ending: string): number[] {
  return listNumbers('/proc').filter((pid) => commandLineOf(pid).endsWith(ending));
}

/** The value of a variable in a process's starting environment. */
export function environmentOf(pid: number, name: string): string | undefined {
  const prefix = `${name}=`;
  const entry = readText(`/proc/${pid}/environ`)
    ?.split('\0')
    .find((line) => line.startsWith(prefix));
  return entry?.slice(prefix.length);
}

let cachedBootId: string | null | undefined;

function bootId(): string | null {
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
