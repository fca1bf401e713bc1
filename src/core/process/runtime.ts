/**
 * How a process ended: its exit code, or the signal that ended it. `Runtime` creates it and a sandbox replaces it by
 * the tool's exit. Null means not measured.
 */
export interface Exit {
  rc: number | null;
  signal: string | null;
  usage: { cpu_s: number | null; max_rss_bytes: number | null };
}

/**
 * What to start, and its three streams: each a descriptor or a pipe of the runtime. Without `stdin`, the process reads
 * an empty input.
 */
export interface SpawnRequest {
  argv: readonly [string, ...string[]];
  cwd: string;
  env: Readonly<Record<string, string>>;
  stdin?: number;
  stdout: number | 'pipe';
  stderr: number | 'pipe';
  /** Additional descriptors, which become 3, 4, 5 … in this order. */
  fds?: readonly number[];
  /** Opens an IPC channel, whose descriptor number is in `NODE_CHANNEL_FD`. */
  hear?: HearChild;
}

/** Receives a message from the child's channel, with its socket. The return value is the answer. */
export type HearChild = (message: unknown, socket: unknown) => string | undefined;

/** A started process, which leads its own session. Streams exist only where a pipe was requested. */
export interface SpawnedProcess {
  pid: number;
  exited: Promise<Exit>;
  stdout: AsyncIterable<Uint8Array> | null;
  stderr: AsyncIterable<Uint8Array> | null;
  /** Whether this process waits for it before it ends. */
  holdsProcess(holds: boolean): void;
}

/** A small process that lives until its input ends. */
export interface Companion {
  pid: number;
  write(line: string): void;
  close(): void;
}

/** The differences between Bun and Node. Each has one file; no other code calls either by name. */
export interface Runtime {
  /** Starts a process. Rejects with the system's error when that fails. */
  spawn(request: SpawnRequest): Promise<SpawnedProcess>;
  startCompanion(
    argv: readonly [string, ...string[]],
    env: Readonly<Record<string, string>>,
    cwd: string,
  ): Companion;
  makeFifo(path: string): void;
  /** A descriptor of a new file in memory, which has no name; undefined where that is unavailable. */
  memoryFile(): number | undefined;
  /** Requests a larger pipe from the kernel; a refusal is not an error. */
  growPipe(fd: number, bytes: number): void;
  /** Makes this process adopt orphaned descendants (subreaper, Linux). False where that is unavailable. */
  adoptOrphans(): boolean;
  /** Reaps a dead adopted child. */
  reap(pid: number): void;
  /** Collects all garbage now, and returns its memory to the system, where the runtime can: a pause of about 10 ms. */
  collectGarbage(): void;
}
