/** How a process ended: its exit code, or the signal that ended it. `Runtime` makes it, a sandbox corrects it to that of the tool; null is what could not be measured. */
export interface Exit {
  rc: number | null;
  signal: string | null;
  usage: { cpu_s: number | null; max_rss_bytes: number | null };
}

/** What to start, and what stands behind its three streams: a descriptor, or a pipe of the runtime. Without `stdin`, it is at its end. */
export interface SpawnRequest {
  argv: readonly [string, ...string[]];
  cwd: string;
  env: Readonly<Record<string, string>>;
  stdin?: number;
  stdout: number | 'pipe';
  stderr: number | 'pipe';
  /** Further descriptors, which the process finds as 3, 4, 5 … in this order. */
  fds?: readonly number[];
  /** Gives the process a channel, whose number it finds in `NODE_CHANNEL_FD`. */
  hear?: HearChild;
}

/** Hears a message that a child has sent over its channel, with the socket that came with it. What it returns is the answer. */
export type HearChild = (message: unknown, socket: unknown) => string | undefined;

/** A started process, leader of a session of its own. The streams are there only where a pipe was asked for. */
export interface SpawnedProcess {
  pid: number;
  exited: Promise<Exit>;
  stdout: AsyncIterable<Uint8Array> | null;
  stderr: AsyncIterable<Uint8Array> | null;
}

/** A small process that lives until its input ends. */
export interface Companion {
  pid: number;
  write(line: string): void;
  close(): void;
}

/** What differs between Bun and Node. Each has one file; nothing else calls either by name. */
export interface Runtime {
  /** Starts a process. Rejects with the system's error when it cannot be started. */
  spawn(request: SpawnRequest): Promise<SpawnedProcess>;
  startCompanion(argv: readonly [string, ...string[]], env: Readonly<Record<string, string>>): Companion;
  makeFifo(path: string): void;
  /** Asks the kernel for a larger pipe; a refusal is no error. */
  growPipe(fd: number, bytes: number): void;
  /** Has orphaned descendants become children of this process (Linux). False where that cannot be had. */
  adoptOrphans(): boolean;
  /** Takes a dead adopted child off the process table. */
  reap(pid: number): void;
}
