import { statSync } from 'node:fs';
import type { AdapterContext } from '../run/attempt/adapter.ts';

/** Text up to this length is repeated in the result, so that a short answer need not be assembled from events. */
const INLINE_OUTPUT_BYTES = 65_536;

/** The text that a program has written: kept while it is short. Longer text is in the run's stdout.log. */
export class OutputText {
  lines = 0;
  readonly #context: AdapterContext;
  /** Where the text of this attempt begins in the log: earlier attempts have written to it. */
  readonly #offset: number;
  #kept: string[] = [];
  #keptBytes = 0;

  constructor(context: AdapterContext) {
    this.#context = context;
    this.#offset = context.attempt === 1 ? 0 : sizeOf(context.layout.stdoutLog);
  }

  add(bytes: Uint8Array, start: number, end: number): void {
    this.lines++;
    this.#keptBytes += end - start + 1;
    if (this.#keptBytes > INLINE_OUTPUT_BYTES) this.#kept = [];
    else this.#kept.push(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8'));
  }

  /** The data of the result: the text, or the part of a file that holds it. */
  data(): Record<string, unknown> {
    if (this.#keptBytes <= INLINE_OUTPUT_BYTES) return { output: this.#kept.join('\n') };
    const { intake, layout } = this.#context;
    const file = layout.stdoutLog;
    const bytes = sizeOf(file) - this.#offset;
    intake.warnOnce(
      'output',
      undefined,
      `the output is longer than 64 KiB (${bytes} bytes), so the result only names the file that holds all of it: ${file}`,
    );
    return {
      output_file: file,
      ...(this.#offset > 0 && { offset: this.#offset }),
      bytes,
      lines: this.lines,
    };
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
