import { closeSync, constants, type FSWatcher, openSync, readSync, rmSync, watch } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../util/error-code.ts';
import { removeIfPossible } from '../../util/remove-if-possible.ts';
import type { Runtime, SpawnedProcess } from './runtime.ts';

const BUFFER_BYTES = 1 << 18;
const PIPE_BYTES = 1 << 20;
/** More than this in one turn means that the tool is in full flow, and the next turn follows at once. */
const FULL_FLOW_BYTES = 60_000;
const POLL_MS = 1;
const EMPTY_POLLS_BEFORE_WATCH = 10;
/** inotify reports writes, not the death of the last writer: the pump checks for that at this interval. */
const IDLE_LOOK_MS = 200;
/** So much is read in one turn of a tool that may be held back: what it writes grows in the log, and each turn is one look. */
const HELD_BACK_TURN_BYTES = 1 << 16;
/** Between looks whether a tool that was held back may go on. */
const HELD_BACK_POLL_MS = 5;
/** Between looks at a silent stream that cannot be watched. */
const IDLE_POLL_MS = 10;
/** Descendants may hold the stream open after the tool is gone; what they still write is waited for this long. */
const DRAIN_LIMIT_MS = 100;

/** Where the output goes. `onTurn` follows each burst of bytes, so that work can be done once per burst. */
export interface OutputSinks {
  stdout(bytes: Uint8Array): void;
  stderr(bytes: Uint8Array): void;
  onTurn(): void;
  /** Asked before each look: while it says so nothing is read, and a tool that goes on writing has to wait. */
  isPaused?(): boolean;
  /** The tool and all its descendants have closed their standard output. */
  onStdoutClosed(): void;
}

/**
 * Carries a tool's output. The streams are FIFOs, because a runtime's own pipes are socket pairs, in which `> /dev/stdout`
 * fails; they are read in bulk on a short timer while bytes flow and watched by inotify while none do, because a wake-up per line would
 * slow the tool down. Where there are no FIFOs the runtime's pipes stand in.
 */
export class OutputPump {
  readonly #sinks: OutputSinks;
  readonly #turnBytes: number;
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  readonly #streams: FifoStream[] = [];
  #timer: NodeJS.Timeout | NodeJS.Immediate | undefined;
  #emptyPolls = 0;
  #pipes: Promise<void>[] = [];
  #closed = false;
  #idle: (() => void) | undefined;

  constructor(runtime: Runtime, folder: string | null, sinks: OutputSinks) {
    this.#sinks = sinks;
    this.#turnBytes = sinks.isPaused === undefined ? PIPE_BYTES : HELD_BACK_TURN_BYTES;
    if (folder === null) return;
    try {
      this.#streams.push(new FifoStream(runtime, join(folder, 'stdout'), (bytes) => sinks.stdout(bytes)));
      this.#streams.push(new FifoStream(runtime, join(folder, 'stderr'), (bytes) => sinks.stderr(bytes)));
    } catch {
      // A file system without FIFOs.
      this.close();
      this.#closed = false;
      this.#streams.length = 0;
    }
  }

  /** What to give the tool as its streams. */
  get targets(): { stdout: number | 'pipe'; stderr: number | 'pipe' } {
    const [stdout, stderr] = this.#streams;
    return { stdout: stdout?.writeFd ?? 'pipe', stderr: stderr?.writeFd ?? 'pipe' };
  }

  /** Begins to read; call it once the tool has been started with the targets. */
  start(child: SpawnedProcess): void {
    for (const stream of this.#streams) stream.releaseWriteEnd();
    if (this.#streams.length > 0) this.#schedule(0);
    if (child.stdout)
      this.#pipes.push(this.#follow(child.stdout, (bytes) => this.#sinks.stdout(bytes), true));
    if (child.stderr)
      this.#pipes.push(this.#follow(child.stderr, (bytes) => this.#sinks.stderr(bytes), false));
  }

  /** Reads what is left after the tool has ended: to the end of the streams, or for a short while if another process holds them open. */
  async drain(): Promise<void> {
    if (this.#pipes.length > 0) {
      await Promise.race([Promise.all(this.#pipes), sleep(DRAIN_LIMIT_MS)]);
      return;
    }
    const until = performance.now() + DRAIN_LIMIT_MS;
    for (;;) {
      this.#stopTimer();
      const read = this.#readAll(PIPE_BYTES);
      if (this.#streams.every((stream) => stream.ended)) return;
      if (performance.now() > until) return;
      // One look ahead is enough when no writer is left.
      if (read === 0) await sleep(POLL_MS);
    }
  }

  close(): void {
    this.#closed = true;
    this.#stopTimer();
    for (const stream of this.#streams) stream.close();
  }

  #schedule(bytes: number): void {
    if (this.#closed) return;
    const next = () => this.#turn();
    const pauseMs = this.#emptyPolls > EMPTY_POLLS_BEFORE_WATCH ? IDLE_POLL_MS : POLL_MS;
    this.#timer = bytes > FULL_FLOW_BYTES ? setImmediate(next) : setTimeout(next, pauseMs);
  }

  #turn(): void {
    if (!this.#closed && this.#sinks.isPaused?.()) {
      this.#timer = setTimeout(() => this.#turn(), HELD_BACK_POLL_MS);
      return;
    }
    const bytes = this.#readAll();
    if (this.#closed || this.#streams.every((stream) => stream.ended)) return;
    this.#emptyPolls = bytes === 0 ? this.#emptyPolls + 1 : 0;
    if (this.#emptyPolls > EMPTY_POLLS_BEFORE_WATCH && this.#watch()) return;
    this.#schedule(bytes);
  }

  #readAll(most = this.#turnBytes): number {
    let total = 0;
    for (const stream of this.#streams) {
      const wasEnded = stream.ended;
      total += stream.read(this.#buffer, most);
      if (stream === this.#streams[0] && stream.ended && !wasEnded) this.#sinks.onStdoutClosed();
    }
    if (total > 0) this.#sinks.onTurn();
    return total;
  }

  /** Sleeps until a stream is written to. False if it cannot, or if something came in between. */
  #watch(): boolean {
    const watchers: FSWatcher[] = [];
    const stop = () => {
      for (const watcher of watchers) watcher.close();
      // Its look would otherwise go on beside the turns, and read what is held back.
      clearTimeout(this.#timer as NodeJS.Timeout);
      this.#idle = undefined;
    };
    const wake = () => {
      if (this.#idle !== stop) return;
      stop();
      this.#emptyPolls = 0;
      this.#turn();
    };
    try {
      for (const stream of this.#streams) if (!stream.ended) watchers.push(watch(stream.path, wake));
    } catch {
      stop();
      return false;
    }
    this.#idle = stop;
    // Bytes that came before the watch was set would be waited for in vain.
    if (this.#readAll() > 0 || this.#streams.every((stream) => stream.ended)) {
      stop();
      return false;
    }
    const look = () => {
      if (this.#readAll() > 0 || this.#streams.every((stream) => stream.ended)) wake();
      else this.#timer = setTimeout(look, IDLE_LOOK_MS);
    };
    this.#timer = setTimeout(look, IDLE_LOOK_MS);
    return true;
  }

  #stopTimer(): void {
    this.#idle?.();
    clearTimeout(this.#timer as NodeJS.Timeout);
    clearImmediate(this.#timer as NodeJS.Immediate);
  }

  async #follow(stream: AsyncIterable<Uint8Array>, sink: (bytes: Uint8Array) => void, isStdout: boolean) {
    try {
      for await (const bytes of stream) {
        while (!this.#closed && this.#sinks.isPaused?.()) await sleep(HELD_BACK_POLL_MS);
        if (this.#closed) return;
        sink(bytes);
        this.#sinks.onTurn();
      }
    } catch {
      // The pipe was destroyed with the tool.
    }
    if (isStdout && !this.#closed) this.#sinks.onStdoutClosed();
  }
}

class FifoStream {
  readonly path: string;
  ended = false;
  writeFd: number;
  readonly #readFd: number;
  readonly #sink: (bytes: Uint8Array) => void;
  #open = true;

  constructor(runtime: Runtime, path: string, sink: (bytes: Uint8Array) => void) {
    this.path = path;
    this.#sink = sink;
    // A supervisor that was killed has left its own.
    rmSync(path, { force: true });
    runtime.makeFifo(path);
    this.#readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    this.writeFd = openSync(path, constants.O_WRONLY);
    runtime.growPipe(this.#readFd, PIPE_BYTES);
  }

  releaseWriteEnd(): void {
    closeSync(this.writeFd);
    this.writeFd = -1;
  }

  /** Hands on what is there now, up to about so much, and returns its size. */
  read(buffer: Uint8Array, most: number): number {
    const atOnce = Math.min(buffer.length, most);
    let total = 0;
    while (!this.ended && this.#open && total < most) {
      let count: number;
      try {
        count = readSync(this.#readFd, buffer, 0, atOnce, null);
      } catch (error) {
        if (errorCode(error) === 'EAGAIN') break;
        throw error;
      }
      if (count === 0) {
        this.ended = true;
        break;
      }
      total += count;
      this.#sink(buffer.subarray(0, count));
      if (count < atOnce / 4) break;
    }
    return total;
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    if (this.writeFd !== -1) closeSync(this.writeFd);
    closeSync(this.#readFd);
    removeIfPossible(this.path);
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
