import { readdirSync, readFileSync } from 'node:fs';

/** What the processes of a tool use together. */
export interface TreeUsage {
  /** Resident memory; a page that several processes share counts once for each, so this is never too little. */
  rssBytes: number;
  /** Processor time since the start, of the living and of those that have ended. */
  cpuS: number;
  processes: number;
}

interface Reading {
  pid: number;
  isAlive: boolean;
  ticks: number;
  threads: number;
  startTime: number;
  rssPages: number;
  isSandboxProcess: boolean;
}

/** Measures a tree of processes from outside, in one read of /proc for each process. */
export class TreeMeter {
  readonly #rootPid: number;
  readonly #sandboxProcessDepth: number;
  readonly #strays: () => readonly number[];
  /** By pid, with the time of the start: a process that has left its parents is still the tool's. */
  #known = new Map<number, number>();
  #members: Reading[] = [];
  #lastTicks = 0;
  #usedTicks = 0;

  /**
   * `sandboxProcessDepth` is how many generations, from the root on, are the sandbox's: their memory is not the tool's, while their processor time
   * is, as what ended in the sandbox is counted with them. `strays` finds orphans.
   */
  constructor(options: { rootPid: number; sandboxProcessDepth: number; strays: () => readonly number[] }) {
    this.#rootPid = options.rootPid;
    this.#sandboxProcessDepth = options.sandboxProcessDepth;
    this.#strays = options.strays;
  }

  /** A process of the tool itself; undefined before there is one. */
  get anyPid(): number | undefined {
    return this.#members.find(({ isAlive, isSandboxProcess }) => isAlive && !isSandboxProcess)?.pid;
  }

  measure(): TreeUsage {
    const found = new Map<number, Reading>();
    this.#collect(this.#rootPid, 0, found);
    for (const pid of this.#strays()) this.#collect(pid, this.#sandboxProcessDepth, found);
    for (const [pid, startTime] of this.#known) {
      if (!found.has(pid) && readStat(pid)?.startTime === startTime)
        this.#collect(pid, this.#sandboxProcessDepth, found);
    }
    this.#members = [...found.values()];
    this.#known = new Map(this.#members.map(({ pid, startTime }) => [pid, startTime]));
    const own = this.#members.filter(({ isAlive, isSandboxProcess }) => isAlive && !isSandboxProcess);
    return {
      rssBytes: own.reduce((sum, { rssPages }) => sum + rssPages, 0) * PAGE_BYTES,
      cpuS: this.#cpuTicks() / TICKS_PER_S,
      processes: own.length,
    };
  }

  /** Memory of the processes measured last with what they share counted once. It costs milliseconds for each of them. */
  exactBytes(): number {
    const own = this.#members.filter(({ isAlive, isSandboxProcess }) => isAlive && !isSandboxProcess);
    return own.reduce((sum, { pid, rssPages }) => sum + (proportionalBytes(pid) ?? rssPages * PAGE_BYTES), 0);
  }

  /** An orphan that ends takes its time out of the sum; what was counted stays counted. */
  #cpuTicks(): number {
    const ticks = this.#members.reduce((sum, member) => sum + member.ticks, 0);
    this.#usedTicks += Math.max(0, ticks - this.#lastTicks);
    this.#lastTicks = ticks;
    return this.#usedTicks;
  }

  #collect(pid: number, depth: number, found: Map<number, Reading>): void {
    if (found.has(pid) || pid === process.pid) return;
    const reading = readStat(pid);
    if (reading === undefined) return;
    found.set(pid, { ...reading, isSandboxProcess: depth < this.#sandboxProcessDepth });
    for (const child of childrenOf(reading)) this.#collect(child, depth + 1, found);
  }
}

function readStat(pid: number): Reading | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The command name stands in parentheses and may itself hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const number = (index: number) => Number(fields[index]);
  return {
    pid,
    isAlive: fields[0] !== 'Z' && fields[0] !== 'X',
    ticks: number(11) + number(12) + number(13) + number(14),
    threads: number(17),
    startTime: number(19),
    rssPages: number(21),
    isSandboxProcess: false,
  };
}

function childrenOf({ pid, threads, isAlive }: Reading): number[] {
  if (!isAlive) return [];
  const ids = threads === 1 ? [pid] : threadsOf(pid);
  return ids.flatMap((id) => {
    const text = readText(`/proc/${pid}/task/${id}/children`);
    return text ? text.trim().split(' ').map(Number) : [];
  });
}

function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [];
  }
}

/** Undefined when the process is gone or hides itself. */
function proportionalBytes(pid: number): number | undefined {
  const text = readText(`/proc/${pid}/smaps_rollup`);
  const kib = [...(text ?? '').matchAll(/^(?:Pss|SwapPss): +(\d+) kB$/gm)].map(([, value]) => Number(value));
  return kib.length === 0 ? undefined : kib.reduce((sum, value) => sum + value, 0) * 1024;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

const AT_PAGESZ = 6n;
const AT_CLKTCK = 17n;
const PAGE_BYTES = systemValue(AT_PAGESZ) ?? 4096;
const TICKS_PER_S = systemValue(AT_CLKTCK) ?? 100;

/** What the kernel reported about this process at its start. */
function systemValue(key: bigint): number | undefined {
  try {
    const words = new BigUint64Array(new Uint8Array(readFileSync('/proc/self/auxv')).buffer);
    const index = words.findIndex((word, at) => at % 2 === 0 && word === key);
    return index === -1 ? undefined : Number(words[index + 1]);
  } catch {
    return undefined;
  }
}
