import { SCAN_LINES_WASM } from './scan-lines-wasm.ts';

/** What `wasm/scan-lines.ts` exports. */
interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly MAX_ID_BYTES: Constant;
  readonly CHUNK_BYTES: Constant;
  readonly RUN_ID: Constant;
  readonly RUN_FIELD: Constant;
  readonly TS_FIELD: Constant;
  readonly INPUT: Constant;
  readonly OUTPUT: Constant;
  readonly outputEnd: Constant;
  readonly count: Constant;
  readonly hasProgress: Constant;
  begin(runIdBytes: number, runFieldBytes: number): void;
  scan(from: number, to: number, seq: number, tsFieldBytes: number, takesForeign: number): number;
}

type Constant = { readonly value: number };

const LF = 10;
const encoder = new TextEncoder();

/**
 * Does for a whole chunk what `HotScanner`, `LineCompleter` and the log do for a line: it recognises the frequent messages, completes their
 * envelopes and numbers them, with one copy. It takes four times less processor time, and two milliseconds to be made.
 */
export class ChunkScanner {
  /** The lines that the last scan took, as the log stores them. Valid until the next one. */
  lines: Uint8Array = new Uint8Array();
  /** How many they are. */
  count = 0;
  /** Whether a progress message is among them. */
  hasProgress = false;
  readonly #wasm: Exports;
  readonly #memory: Uint8Array;
  readonly #input: number;
  readonly #output: number;
  #bytes: Uint8Array = new Uint8Array();
  /** Where the lines in memory begin and end in the chunk. */
  #start = 0;
  #end = 0;

  /** Undefined where there is no WebAssembly, and for a run id of unusual length. */
  static of(runId: string): ChunkScanner | undefined {
    try {
      const wasm = instantiate();
      const id = JSON.stringify(runId);
      return encoder.encode(id).length <= wasm.MAX_ID_BYTES.value ? new ChunkScanner(wasm, id) : undefined;
    } catch {
      return undefined;
    }
  }

  private constructor(wasm: Exports, id: string) {
    this.#wasm = wasm;
    this.#memory = new Uint8Array(wasm.memory.buffer);
    this.#input = wasm.INPUT.value;
    this.#output = wasm.OUTPUT.value;
    wasm.begin(this.#put(wasm.RUN_ID.value, id), this.#put(wasm.RUN_FIELD.value, `"run_id":${id},`));
  }

  /** The next chunk; it stays unchanged until the one after it. */
  begin(bytes: Uint8Array): void {
    this.#bytes = bytes;
    this.#start = this.#end = 0;
  }

  /**
   * Takes whole lines of the chunk from `from` on, where a line begins, as long as they are frequent messages. The first gets the number after
   * `seq`, and those without a time get `ts`. Lines of other runs are only taken with `takesForeign`. Returns where it has stopped.
   */
  scan(from: number, seq: number, ts: string, takesForeign: boolean): number {
    if (from >= this.#end) this.#load(from);
    const offset = this.#input - this.#start;
    const tsBytes = this.#put(this.#wasm.TS_FIELD.value, `"ts":${JSON.stringify(ts)},`);
    const next = this.#wasm.scan(from + offset, this.#end + offset, seq, tsBytes, takesForeign ? 1 : 0);
    this.count = this.#wasm.count.value;
    this.hasProgress = this.#wasm.hasProgress.value !== 0;
    this.lines = this.#memory.subarray(this.#output, this.#wasm.outputEnd.value);
    return next - offset;
  }

  /** Copies the whole lines from an offset on, as many as there is room for. */
  #load(from: number): void {
    const most = Math.min(this.#bytes.length, from + this.#wasm.CHUNK_BYTES.value);
    const end = this.#bytes.lastIndexOf(LF, most - 1) + 1;
    this.#start = from;
    this.#end = Math.max(from, end);
    this.#memory.set(this.#bytes.subarray(from, this.#end), this.#input);
  }

  #put(at: number, text: string): number {
    return encoder.encodeInto(text, this.#memory.subarray(at)).written;
  }
}

function instantiate(): Exports {
  const bytes = Uint8Array.from(atob(SCAN_LINES_WASM), (char) => char.charCodeAt(0));
  // Small enough to be compiled at once. A module is compiled for each run: a process seldom has two with much output.
  return new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports as unknown as Exports;
}
