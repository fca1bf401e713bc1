import { type FSWatcher, readSync, watch } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../util/error-code.ts';
import { nextTurn, pause } from '../../util/pause.ts';
import { FIFO_BYTES, Fifo } from './fifo.ts';
import type { Runtime, SpawnedProcess } from './runtime.ts';

/** The maximum read in one turn: the stream on stdout gets its turn between two. */
const BUFFER_BYTES = 1 << 18;
/** After a turn with more bytes than this, the next turn follows at once. */
const FULL_FLOW_BYTES = 60_000;
const POLL_MS = 1;
const EMPTY_POLLS_BEFORE_REST = 10;
/**
 * The streams of a tool that is this young are polled while they rest. A process that has had a watch takes the kernel up to 20 ms to end,
 * because it waits for the readers of its lists (SRCU), and most tools are done before.
 */
const YOUNG_MS = 250;
const YOUNG_POLL_MS = 4;
/**
 * inotify reports writes, but not that the last writer closed the stream. The pump checks for that at this interval.
 */
const IDLE_LOOK_MS = 200;
/**
 * The maximum read in one turn of a tool that backpressure may stop: the log grows by what is read, and each turn
 * checks the window once.
 */
const HELD_BACK_TURN_BYTES = 1 << 16;
/** So long one turn reads a stream, and one piece of output may take: then the next pieces are smaller, so that a flood of tiny lines does not hold the guards' timers. */
const MAX_TURN_MS = 10;
const MIN_PIECE_BYTES = 1 << 12;
/** The interval between checks whether a stopped tool may continue. */
const HELD_BACK_POLL_MS = 5;
/** The interval between checks of a silent stream that cannot be watched. */
const IDLE_POLL_MS = 10;
/** After the tool's exit, wait this long for output of descendants that hold the stream open. */
const DRAIN_LIMIT_MS = 100;

/** The consumer of the output. `onTurn` follows each burst of bytes, so that work can be done once per burst. */
export interface OutputSinks {
  stdout(bytes: Uint8Array): void;
  stderr(bytes: Uint8Array): void;
  onTurn(): void;
  /**
   * Backpressure: called before each read. While it returns true, nothing is read, and the tool blocks when it writes
   * more.
   */
  isPaused?(): boolean;
  /** The tool and all its descendants have closed their standard output. */
  onStdoutClosed(): void;
}

/** One for all pumps of this process: what a read brings is passed on before the next read. */
let readBuffer: Buffer | undefined;

/** The streams of a tool that is started before its run. */
export interface OutputFifos {
  stdout: Fifo;
  stderr: Fifo;
}

/**
 * Transfers a tool's output. The streams are FIFOs, because a runtime's own pipes are socket pairs, in which `>
 * /dev/stdout` fails. They are read in bulk on a short timer while bytes flow, and watched by inotify otherwise,
 * because a wake-up per line would slow the tool down. Without FIFOs, the runtime's pipes are used.
 */
export class OutputPump {
  readonly #sinks: OutputSinks;
  readonly #turnBytes: number;
  readonly #buffer: Buffer;
  readonly #streams: FifoStream[] = [];
  #timer: NodeJS.Timeout | NodeJS.Immediate | undefined;
  #emptyPolls = 0;
  #youngUntilMs = 0;
  #pipes: Promise<void>[] = [];
  #closed = false;
  #idle: (() => void) | undefined;

  /** `fifos` are those of a tool that is started already; without them, they are made in the folder. */
  constructor(runtime: Runtime, folder: string | null, sinks: OutputSinks, fifos?: OutputFifos) {
    readBuffer ??= Buffer.allocUnsafe(BUFFER_BYTES);
    this.#buffer = readBuffer;
    this.#sinks = sinks;
    this.#turnBytes = sinks.isPaused === undefined ? BUFFER_BYTES : HELD_BACK_TURN_BYTES;
    if (folder === null) return;
    try {
      for (const name of ['stdout', 'stderr'] as const) {
        const fifo = fifos?.[name] ?? new Fifo(runtime, join(folder, name));
        this.#streams.push(new FifoStream(fifo, (bytes) => sinks[name](bytes)));
      }
    } catch {
      // A file system without FIFOs.
      this.close();
      this.#closed = false;
      this.#streams.length = 0;
    }
  }

  /** The tool's output streams for its start. */
  get targets(): { stdout: number | 'pipe'; stderr: number | 'pipe' } {
    const [stdout, stderr] = this.#streams;
    return { stdout: stdout?.fifo.writeFd ?? 'pipe', stderr: stderr?.fifo.writeFd ?? 'pipe' };
  }

  /** Starts to read. Call it once the tool was started with these streams. */
  start(child: SpawnedProcess): void {
    for (const stream of this.#streams) stream.fifo.releaseWriteEnd();
    this.#youngUntilMs = performance.now() + YOUNG_MS;
    if (this.#streams.length > 0) this.#schedule(0);
    if (child.stdout)
      this.#pipes.push(this.#follow(child.stdout, (bytes) => this.#sinks.stdout(bytes), true));
    if (child.stderr)
      this.#pipes.push(this.#follow(child.stderr, (bytes) => this.#sinks.stderr(bytes), false));
  }

  /**
   * Reads the rest after the tool has exited: to the end of the streams, or for a short while if another process holds
   * them open.
   */
  async drain(): Promise<void> {
    if (this.#pipes.length > 0) {
      await Promise.race([Promise.all(this.#pipes), pause(DRAIN_LIMIT_MS)]);
      return;
    }
    const until = performance.now() + DRAIN_LIMIT_MS;
    // Both pipes were full at most; a descendant may write more for ever.
    for (let left = 2 * FIFO_BYTES; ; ) {
      this.#stopTimer();
      const read = this.#readAll(FIFO_BYTES);
      left -= read;
      if (this.#streams.every((stream) => stream.ended)) return;
      if (performance.now() > until && (read === 0 || left <= 0)) return;
      // One look-ahead read is enough when no writer is left.
      await (read === 0 ? pause(POLL_MS) : nextTurn());
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
    this.#timer = bytes > FULL_FLOW_BYTES ? setImmediate(next) : setTimeout(next, this.#pauseMs());
  }

  #pauseMs(): number {
    if (!this.#rests) return POLL_MS;
    return this.#isYoung ? YOUNG_POLL_MS : IDLE_POLL_MS;
  }

  #turn(): void {
    if (!this.#closed && this.#sinks.isPaused?.()) {
      this.#timer = setTimeout(() => this.#turn(), HELD_BACK_POLL_MS);
      return;
    }
    const bytes = this.#readAll();
    if (this.#closed || this.#streams.every((stream) => stream.ended)) return;
    this.#emptyPolls = bytes === 0 ? this.#emptyPolls + 1 : 0;
    if (this.#rests && !this.#isYoung && this.#watch()) return;
    this.#schedule(bytes);
  }

  get #rests(): boolean {
    return this.#emptyPolls > EMPTY_POLLS_BEFORE_REST;
  }

  get #isYoung(): boolean {
    return performance.now() < this.#youngUntilMs;
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

  /** Sleeps until a stream is written to. False if it cannot, or if data arrived in between. */
  #watch(): boolean {
    const watchers: FSWatcher[] = [];
    const stop = () => {
      for (const watcher of watchers) watcher.close();
      // Otherwise the look-ahead would run beside the turns, and read what backpressure holds back.
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
      for (const stream of this.#streams) if (!stream.ended) watchers.push(watch(stream.fifo.path, wake));
    } catch {
      stop();
      return false;
    }
    this.#idle = stop;
    // inotify does not report bytes that arrived before the watch was set.
    if (this.#readAll() > 0 || this.#streams.every((stream) => stream.ended)) {
      stop();
      return false;
    }
    const look = () => {
      if (this.#readAll() > 0 || this.#streams.every((stream) => stream.ended)) wake();
      else if (!this.#closed) this.#timer = setTimeout(look, IDLE_LOOK_MS);
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
        while (!this.#closed && this.#sinks.isPaused?.()) await pause(HELD_BACK_POLL_MS);
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
  ended = false;
  readonly fifo: Fifo;
  readonly #sink: (bytes: Uint8Array) => void;
  #open = true;
  /** Small at first: what the tool writes is unknown, and the code that reads it is not compiled yet. */
  #pieceBytes = MIN_PIECE_BYTES;

  constructor(fifo: Fifo, sink: (bytes: Uint8Array) => void) {
    this.fifo = fifo;
    this.#sink = sink;
  }

  /** Passes on the available bytes, up to about the given size and for about `MAX_TURN_MS`, and returns their number. */
  read(buffer: Uint8Array, most: number): number {
    let total = 0;
    const begunMs = performance.now();
    while (!this.ended && this.#open && total < most && performance.now() - begunMs < MAX_TURN_MS) {
      const atOnce = Math.min(this.#pieceBytes, most);
      let count: number;
      try {
        count = readSync(this.fifo.readFd, buffer, 0, atOnce, null);
      } catch (error) {
        if (errorCode(error) === 'EAGAIN') break;
        throw error;
      }
      if (count === 0) {
        this.ended = true;
        break;
      }
      total += count;
      const startMs = performance.now();
      this.#sink(buffer.subarray(0, count));
      const tookMs = performance.now() - startMs;
      // A piece may take half a turn: a turn that begins its last piece late must not take much longer than it should.
      if (tookMs > MAX_TURN_MS / 2) this.#pieceBytes = Math.max(MIN_PIECE_BYTES, count >> 1);
      else if (tookMs < MAX_TURN_MS / 4) this.#pieceBytes = Math.min(buffer.length, this.#pieceBytes * 2);
      if (count < atOnce / 4) break;
    }
    return total;
  }

  close(): void {
    this.#open = false;
    this.fifo.close();
  }
}
