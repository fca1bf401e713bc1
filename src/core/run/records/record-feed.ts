import { LineReader } from '../../../protocol/jsonl.ts';
import { errorMessage } from '../../../util/error-code.ts';
import { parseObject } from '../../../util/parse-object.ts';
import { pause } from '../../../util/pause.ts';
import type { RecordForm, RecordSource } from '../../ports/run-launcher.ts';
import { InputPipe } from '../../process/input-pipe.ts';
import { endedRecord, followToEnd } from '../follow-to-end.ts';
import type { RunnerServices } from '../services.ts';
import type { RunWorkspace } from '../workspace.ts';

const PIPE_BYTES = 1 << 20;
const MAX_PAUSE_MS = 20;

/**
 * Feeds a tool's standard input with the records of another run, also while that run is live. It reads them from the other run's log at
 * the pace of the tool; the other run pauses when it is too far ahead. End-of-file follows only when the other run has completed,
 * because the tool's result for a part of its input would be wrong.
 */
export class RecordFeed implements Disposable {
  readonly #services: RunnerServices;
  readonly #source: RecordSource;
  readonly #onBroken: (reason: string) => void;
  readonly #pipe: InputPipe;
  readonly #stop = new AbortController();
  #isStarved = true;
  #lastWriteMs = performance.now();

  /** `onBroken` is called once, when the input cannot be completed. */
  constructor(
    services: RunnerServices,
    workspace: RunWorkspace,
    source: RecordSource,
    onBroken: (reason: string) => void,
  ) {
    this.#services = services;
    this.#source = source;
    this.#onBroken = onBroken;
    this.#pipe = new InputPipe(services.runtime, workspace.streams, PIPE_BYTES);
  }

  get target(): number {
    return this.#pipe.target;
  }

  /** When the tool last got a record, on the clock of `performance.now()`; the current time while no record is available. */
  get lastWriteMs(): number {
    return this.#isStarved ? performance.now() : this.#lastWriteMs;
  }

  /** Starts to feed the tool, which has inherited the target. */
  releaseReadEnd(): void {
    this.#pipe.releaseReadEnd();
    this.#feed().catch((error) => {
      if (!this.#stop.signal.aborted)
        this.#onBroken(`cannot read the records of the tool before it: ${errorMessage(error)}`);
    });
  }

  /** A tool that reads records gets its answers only as files. */
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
        await this.#writeAll(reader.read(lines));
        if (signal.aborted) return;
        consumed += lines.length;
        records.acknowledge(consumed);
        this.#isStarved = true;
      }
    } finally {
      records.close();
    }
    this.#isStarved = false;
    this.#lastWriteMs = performance.now();
    const { state, tool } = await endedRecord(this.#services, run_id);
    if (signal.aborted) return;
    if (state === 'completed') this.#pipe.end();
    else this.#onBroken(`the tool before it, '${tool}' (${run_id}), did not complete (${state})`);
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    this.#isStarved = bytes.length === 0;
    let pauseMs = 1;
    for (let at = 0; at < bytes.length && !this.#stop.signal.aborted; ) {
      const count = this.#pipe.offer(bytes, at);
      at += count;
      if (count > 0) {
        this.#lastWriteMs = performance.now();
        pauseMs = 1;
      } else {
        await pause(pauseMs);
        pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
      }
    }
  }
}

/**
 * Extracts the records from a run's events and writes them as JSON Lines. A plain program's line that is a JSON object is the record;
 * any other line becomes `{"line": …}`. Other tools send records in `log` messages. If a tool sent none, the data of its result are the
 * records: each element of a list, or the object itself; not of a tool with `output: records`.
 */
export class RecordReader {
  readonly #form: RecordForm;
  #hasSentRecord: boolean;

  constructor(form: RecordForm) {
    this.#form = form;
    this.#hasSentRecord = form === 'records';
  }

  /** The records in a chunk of whole lines of the log. */
  read(lines: Uint8Array): Buffer {
    const records: string[] = [];
    const reader = new LineReader((bytes, start, end) => {
      const event = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString());
      for (const record of this.#form === 'lines' ? recordOfLine(event) : this.#recordsOf(event))
        records.push(record);
    }, lines.length);
    reader.push(lines);
    return Buffer.from(records.length === 0 ? '' : `${records.join('\n')}\n`);
  }

  #recordsOf({ type, record, data }: Readonly<Record<string, unknown>>): string[] {
    if (type === 'log' && isObject(record)) {
      this.#hasSentRecord = true;
      return [JSON.stringify(record)];
    }
    if (type !== 'result' || this.#hasSentRecord || data === undefined || data === null) return [];
    return (Array.isArray(data) ? data : [data]).map((each) =>
      JSON.stringify(isObject(each) ? each : { value: each }),
    );
  }
}

function recordOfLine({ type, msg, cut }: Readonly<Record<string, unknown>>): string[] {
  if (type !== 'log' || typeof msg !== 'string') return [];
  if (cut === true) return [JSON.stringify({ line: msg, cut })];
  const isRecord = msg.trimStart().startsWith('{') && parseObject(msg) !== undefined;
  return [isRecord ? msg : JSON.stringify({ line: msg })];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
