import { HotScanner } from '../../../protocol/v1/hot-scanner.ts';
import type { Intake } from '../intake.ts';
import type { Adapter } from './adapter.ts';

/** JSON nested deeper than this cannot be relied on to be read and written again by whoever reads the events. */
const MAX_DEPTH = 1000;

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** ACOR's own protocol: each line is a message (contract §1). */
export class JsonlAdapter implements Adapter {
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
    const view = bytes.subarray(start, end);
    const text = decode(view);
    if (cut) {
      this.#intake.stray('line over 1 MiB was cut', text);
      return;
    }
    if (text.includes('\uFFFD') && !isUtf8(view)) {
      this.#intake.warnOnce(
        'utf8',
        'E_PROTOCOL',
        'the tool writes bytes that are no UTF-8; they were replaced',
      );
    }
    if (isTooDeep(view)) {
      this.#intake.stray(`json nested deeper than ${MAX_DEPTH} levels`, text);
      return;
    }
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      this.#intake.stray('non-json stdout', text);
      return;
    }
    if (typeof message !== 'object' || message === null || Array.isArray(message))
      this.#intake.stray('non-json stdout', text);
    else if (typeof (message as { type?: unknown }).type !== 'string')
      this.#intake.stray('json without a type', text);
    else this.#intake.accept(message as { type: string });
  }
}

/** Counts brackets, those within strings too: a line of text with a thousand open ones is not worth being told apart. */
function isTooDeep(bytes: Uint8Array): boolean {
  if (bytes.length < MAX_DEPTH) return false;
  let depth = 0;
  for (const byte of bytes) {
    if (byte === 91 || byte === 123) depth++;
    else if (byte === 93 || byte === 125) depth--;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    strictUtf8.decode(bytes);
    return true;
  } catch {
    return false;
  }
}
