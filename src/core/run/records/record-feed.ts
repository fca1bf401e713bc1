import { errorMessage } from '../../../util/error-code.ts';
import type { RecordSource } from '../../ports/run-launcher.ts';
import { InputPipe } from '../../process/input-pipe.ts';
import { endedRecord, followToEnd } from '../follow-to-end.ts';
import type { RunnerServices } from '../services.ts';
import type { RunWorkspace } from '../workspace.ts';
import { RecordReader } from './record-reader.ts';

const PIPE_BYTES = 1 << 20;
const MAX_PAUSE_MS = 20;

/**
 * A tool's standard input that carries the records of another run while that run is live. They are read from its log at the pace of the
 * tool, and the other run pauses when it is too far ahead. The input ends in end-of-file only when the other run has completed, because
 * what a tool makes of half of its input must not count.
 */
export class RecordFeed implements Disposable {
  readonly #services: RunnerServices;
  readonly #source: RecordSource;
  readonly #onBroken: (reason: string) => void;
  readonly #pipe: InputPipe;
  readonly #stop = new AbortController();
  #isStarved = true;
  #lastGivenMs = performance.now();

  /** `onBroken` is called once, when the input will not be complete. */
  constructor(
    services: RunnerServices,
    workspace: RunWorkspace,
    source: RecordSource,
    onBroken: (reason: string) => void,
  ) {
    this.#services = services;
    this.#source = source;
    this.#onBroken = onBroken;
    this.#pipe = new InputPipe(services.runtime, workspace.control, PIPE_BYTES);
  }

  get target(): number {
    return this.#pipe.target;
  }

  /** When the tool last got a record, on the clock of `performance.now()`; now, while there is no record for it. */
  get lastGivenMs(): number {
    return this.#isStarved ? performance.now() : this.#lastGivenMs;
  }

  /** Starts to feed the tool, which has been started with the target. */
  releaseReadEnd(): void {
    this.#pipe.releaseReadEnd();
    this.#feed().catch((error) => {
      if (!this.#stop.signal.aborted) this.#onBroken(`its records cannot be read: ${errorMessage(error)}`);
    });
  }

  /** Such a tool gets its answers only as files. */
  write(_answer: string): void {}

  /** The input ends with the records. */
  end(): void {}

  [Symbol.dispose](): void {
    this.#stop.abort();
    this.#pipe[Symbol.dispose]();
  }

  async #feed(): Promise<void> {
    const { store, workspaces } = this.#services;
    const { run_id, form } = this.#source;
    const { signal } = this.#stop;
    const reader = new RecordReader(form);
    const records = store.control.readRecords(run_id);
    let consumed = 0;
    try {
      for await (const lines of followToEnd(store, run_id, { since: 0, signal, recoversIn: workspaces })) {
        await this.#give(reader.read(lines));
        if (signal.aborted) return;
        consumed += lines.length;
        records.acknowledge(consumed);
        this.#isStarved = true;
      }
    } finally {
      records.close();
    }
    this.#isStarved = false;
    this.#lastGivenMs = performance.now();
    const { state, tool } = await endedRecord(this.#services, run_id);
    if (signal.aborted) return;
    if (state === 'completed') this.#pipe.end();
    else this.#onBroken(`the tool before it, '${tool}' (${run_id}), has not completed (${state})`);
  }

  async #give(bytes: Uint8Array): Promise<void> {
    this.#isStarved = bytes.length === 0;
    let pauseMs = 1;
    for (let at = 0; at < bytes.length && !this.#stop.signal.aborted; ) {
      const count = this.#pipe.offer(bytes, at);
      at += count;
      if (count > 0) {
        this.#lastGivenMs = performance.now();
        pauseMs = 1;
      } else {
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
      }
    }
  }
}
