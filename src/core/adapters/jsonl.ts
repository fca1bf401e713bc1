import { HotScanner } from '../../protocol/v1/hot-scanner.ts';
import type { Adapter, AdapterKind } from '../run/attempt/adapter.ts';
import type { Intake } from '../run/attempt/intake.ts';
import { readTypedObject } from './json-object.ts';

export const JSONL: AdapterKind = { make: ({ intake }) => new JsonlAdapter(intake) };

/** ACOR's own protocol: each line is a message (contract §1). */
class JsonlAdapter implements Adapter {
  readonly #intake: Intake;
  readonly #scanner: HotScanner;

  constructor(intake: Intake) {
    this.#intake = intake;
    this.#scanner = new HotScanner(intake.runId);
  }

  line(bytes: Uint8Array, start: number, end: number, cut: boolean): void {
    const kind = cut ? 'other' : this.#scanner.scan(bytes, start, end);
    if (kind === 'other') this.#carefully(bytes, start, end, cut);
    else this.#intake.keep(kind, bytes, start, end);
  }

  end(): void {}

  #carefully(bytes: Uint8Array, start: number, end: number, cut: boolean): void {
    const message = readTypedObject(this.#intake, bytes, start, end, cut);
    if (message !== undefined) this.#intake.accept(message);
  }
}
