import type { Adapter, AdapterContext, AdapterKind } from '../run/attempt/adapter.ts';
import type { Intake } from '../run/attempt/intake.ts';
import { isOkExit } from '../run/outcome.ts';
import { INLINE_OUTPUT_CHARS } from './json-object.ts';

export const PLAIN: AdapterKind = { make: (context) => new PlainAdapter(context), isText: true };

/** Any program (contract §1): each line of stdout is a `log`, and the exit code decides between result and error. */
class PlainAdapter implements Adapter {
  readonly #intake: Intake;
  readonly #isJson: boolean;
  readonly #exitCodes: Readonly<Record<string, number>>;
  #lines = 0;
  #kept: string[] = [];
  #keptChars = 0;

  constructor({ intake, plan }: AdapterContext) {
    const { output, exit_codes } = plan.tool.manifest;
    this.#intake = intake;
    this.#isJson = output === 'json';
    this.#exitCodes = exit_codes;
  }

  line(bytes: Uint8Array, start: number, end: number, cut: boolean): void {
    const msg = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
    this.#lines++;
    this.#remember(msg);
    if (this.#isJson) return;
    if (cut) this.#intake.accept({ type: 'log', level: 'info', msg, cut });
    else this.#intake.plainLine(msg);
  }

  end(rc: number | null): void {
    if (rc === null) return;
    if (!isOkExit(rc, this.#exitCodes)) {
      this.#intake.accept({
        type: 'error',
        code: 'E_TOOL_FAILED',
        msg: `the program ended with exit code ${rc}`,
        rc,
      });
    } else if (this.#isJson) this.#endWithJson();
    else {
      const whole = this.#keptChars <= INLINE_OUTPUT_CHARS;
      this.#intake.accept({
        type: 'result',
        status: 'ok',
        metrics: { lines: this.#lines },
        ...(whole && { data: { output: this.#kept.join('\n') } }),
      });
    }
  }

  #endWithJson(): void {
    try {
      this.#intake.accept({ type: 'result', status: 'ok', data: JSON.parse(this.#kept.join('\n')) });
    } catch (error) {
      this.#intake.accept({
        type: 'error',
        code: 'E_PROTOCOL',
        msg: `the manifest says output: json, but stdout is not valid JSON: ${(error as Error).message}`,
        hint: 'Set output: text in the manifest, or make the program print exactly one JSON document.',
      });
    }
  }

  /** The output limit bounds the text for `output: json`; plain text is only kept while it is short. */
  #remember(msg: string): void {
    this.#keptChars += msg.length + 1;
    if (this.#isJson || this.#keptChars <= INLINE_OUTPUT_CHARS) this.#kept.push(msg);
    else this.#kept = [];
  }
}
