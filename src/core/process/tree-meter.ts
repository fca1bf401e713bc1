import { readdirSync, readFileSync } from 'node:fs';

/** The resource usage of all processes of a tool together. */
export interface TreeUsage {
  /** Resident memory, and the page tables. A page that several processes share counts once for each, so this is never too low. */
  rssBytes: number;
  /** Processor time since the start, including processes that have ended. */
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
  tableBytes: number;
  isSandboxProcess: boolean;
}

/** The tables of so many mapped bytes have 16 MB at most, and are not looked at. */
const MAPPED_BYTES = 8 * 2 ** 30;

/** Measures a process tree from outside, with one read of /proc per process. */
export class TreeMeter {
  readonly #rootPid: number;
  readonly #sandboxProcessDepth: number;
  readonly #strays: () => readonly number[];
  /** By pid, with the start time: an orphaned process still belongs to the tool. */
  #known = new Map<number, number>();
  #members: Reading[] = [];
  #lastTicks = 0;
  #usedTicks = 0;

  /**
   * `sandboxProcessDepth`: this many generations, from the root, belong to the sandbox. Their memory does not count as
   * the tool's; their processor time does, because it includes that of ended processes in the sandbox. `strays` finds
   * orphans.
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
    const { pageBytes, ticksPerS } = systemUnits();
    return {
      rssBytes: own.reduce((sum, { rssPages, tableBytes }) => sum + rssPages * pageBytes + tableBytes, 0),
      cpuS: this.#cpuTicks() / ticksPerS,
      processes: own.length,
    };
  }

  /**
   * Memory of the processes in the last measurement, with shared pages counted once. It takes milliseconds per process.
   */
  exactBytes(): number {
    const own = this.#members.filter(({ isAlive, isSandboxProcess }) => isAlive && !isSandboxProcess);
    const { pageBytes } = systemUnits();
    const bytesOf = ({ pid, rssPages, tableBytes }: Reading) =>
      (proportionalBytes(pid) ?? rssPages * pageBytes) + tableBytes;
    return own.reduce((sum, each) => sum + bytesOf(each), 0);
  }

  /** When an orphan ends, its time is no longer in the sum, so keep the largest value. */
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
  // The command name is in parentheses and may itself contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const number = (index: number) => Number(fields[index]);
  return {
    pid,
    isAlive: fields[0] !== 'Z' && fields[0] !== 'X',
    ticks: number(11) + number(12) + number(13) + number(14),
    threads: number(17),
    startTime: number(19),
    rssPages: number(21),
    tableBytes: number(20) > MAPPED_BYTES ? tableBytesOf(pid) : 0,
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

/** Undefined when the process has ended or is not readable. */
function proportionalBytes(pid: number): number | undefined {
  const text = readText(`/proc/${pid}/smaps_rollup`);
  const kib = [...(text ?? '').matchAll(/^(?:Pss|SwapPss): +(\d+) kB$/gm)].map(([, value]) => Number(value));
  return kib.length === 0 ? undefined : kib.reduce((sum, value) => sum + value, 0) * 1024;
}

/** The kernel's tables of what a process has mapped: reading one byte in each 2 MB of nothing fills them, and takes no resident memory. */
function tableBytesOf(pid: number): number {
  const [, kib] = /^VmPTE:\s+(\d+) kB$/m.exec(readText(`/proc/${pid}/status`) ?? '') ?? [];
  return Number(kib ?? 0) * 1024;
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
let units: { pageBytes: number; ticksPerS: number } | undefined;

/** The units of the kernel's figures. Read late: a tool that ends at once is never measured. */
function systemUnits(): { pageBytes: number; ticksPerS: number } {
  if (units !== undefined) return units;
  const values = new Map<bigint, number>();
  try {
    const words = new BigUint64Array(new Uint8Array(readFileSync('/proc/self/auxv')).buffer);
    for (let at = 0; at + 1 < words.length; at += 2) values.set(words[at]!, Number(words[at + 1]));
  } catch {
    // Not Linux, or no /proc.
  }
  units = { pageBytes: values.get(AT_PAGESZ) ?? 4096, ticksPerS: values.get(AT_CLKTCK) ?? 100 };
  return units;
}
