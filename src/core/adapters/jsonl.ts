import { HotScanner } from '../../protocol/v1/hot-scanner.ts';
import type { Adapter, AdapterKind } from '../run/attempt/adapter.ts';
import type { Intake } from '../run/attempt/intake.ts';
import { INLINE_OUTPUT_CHARS, readTypedObject } from './json-object.ts';

export const JSONL: AdapterKind = {
  make: ({ intake, plan }) => new JsonlAdapter(intake, plan.tool.manifestPath === null),
};

/** ACOR's own protocol: each line is a message (contract §1). */
class JsonlAdapter implements Adapter {
  readonly #intake: Intake;
  readonly #scanner: HotScanner;
  /** What a program that may not know the protocol has written; undefined once it has sent a message, or too much. */
  #text: string[] | undefined;
  #textChars = 0;

  constructor(intake: Intake, mayBePlain: boolean) {
    this.#intake = intake;
    this.#scanner = new HotScanner(intake.runId);
    if (mayBePlain) this.#text = [];
  }

  line(bytes: Uint8Array, start: number, end: number, cut: boolean): void {
    const kind = cut ? 'other' : this.#scanner.scan(bytes, start, end);
    if (kind === 'other') this.#carefully(bytes, start, end, cut);
    else {
      this.#text = undefined;
      this.#intake.keep(kind, bytes, start, end);
    }
  }

  /** The output of a program without a manifest that wrote no message is its result. */
  end(rc: number | null): void {
    if (rc !== 0 || this.#text === undefined || this.#text.length === 0) return;
    this.#intake.accept({ type: 'result', status: 'ok', data: { output: this.#text.join('\n') } });
  }

  #carefully(bytes: Uint8Array, start: number, end: number, cut: boolean): void {
    const message = readTypedObject(this.#intake, bytes, start, end, cut);
    if (message === undefined) this.#remember(bytes, start, end);
    else {
      this.#text = undefined;
      this.#intake.accept(message);
    }
  }

  #remember(bytes: Uint8Array, start: number, end: number): void {
    if (this.#text === undefined) return;
    this.#textChars += end - start + 1;
    if (this.#textChars > INLINE_OUTPUT_CHARS) this.#text = undefined;
    else this.#text.push(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8'));
  }
}
