import { HotScanner } from '../../protocol/v1/hot-scanner.ts';
import type { Adapter, AdapterContext, AdapterKind } from '../run/attempt/adapter.ts';
import type { Intake } from '../run/attempt/intake.ts';
import { typeOfCut } from './cut-object.ts';
import { LINE_WAS_CUT, readTypedObject, startsLikeObject } from './json-object.ts';
import { OutputText } from './output-text.ts';

export const JSONL: AdapterKind = { make: (context) => new JsonlAdapter(context) };

/** The messages that end an attempt: without them, its outcome is not known. */
const LAST_MESSAGES: readonly (string | undefined)[] = ['result', 'error', 'cancelled'];

/** ACOR's own protocol: each line is a message (contract §1). */
class JsonlAdapter implements Adapter {
  readonly keepsEmptyLines: boolean;
  readonly #intake: Intake;
  readonly #scanner: HotScanner;
  /** What a program that may not know the protocol has written; undefined once it has sent a message. */
  #text: OutputText | undefined;
  /** Whether a message was cut before its type: it may have been the result. */
  #hasLostMessage = false;

  constructor(context: AdapterContext) {
    const { intake, plan } = context;
    this.#intake = intake;
    this.#scanner = new HotScanner(intake.runId);
    this.keepsEmptyLines = plan.tool.manifestPath === null;
    if (this.keepsEmptyLines) this.#text = new OutputText(context);
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
    if (rc !== 0) return;
    if (this.#text !== undefined && this.#text.lines > 0)
      this.#intake.accept({ type: 'result', status: 'ok', data: this.#text.data() });
    else if (this.#hasLostMessage && this.#intake.ending === undefined) this.#failAtCut('last message');
  }

  #carefully(bytes: Uint8Array, start: number, end: number, cut: boolean): void {
    if (start === end) {
      // An empty line is not a message.
      this.#text?.add(bytes, start, end);
      return;
    }
    const message = readTypedObject(this.#intake, bytes, start, end, cut);
    if (message !== undefined) {
      this.#text = undefined;
      this.#intake.accept(message);
    } else {
      this.#text?.add(bytes, start, end);
      if (cut) this.#noteCut(bytes.subarray(start, end));
    }
  }

  #noteCut(beginning: Uint8Array): void {
    const type = startsLikeObject(beginning) ? typeOfCut(beginning) : undefined;
    if (LAST_MESSAGES.includes(type)) {
      this.#text = undefined;
      this.#failAtCut(`'${type}'`);
    } else if (this.#text === undefined) {
      this.#hasLostMessage ||= type === undefined && startsLikeObject(beginning);
      this.#intake.warnOnce(
        'cut',
        'E_PROTOCOL',
        `${type === undefined ? 'a line' : `a message of the tool ('${type.slice(0, 40)}')`} ${LINE_WAS_CUT}`,
      );
    }
  }

  #failAtCut(what: string): void {
    this.#intake.accept({
      type: 'error',
      code: 'E_PROTOCOL',
      msg: `the tool's ${what} ${LINE_WAS_CUT}`,
      hint: 'Write the data to a file in ARTIFACTS_DIR, and name it in the result as an artifact.',
    });
  }
}
