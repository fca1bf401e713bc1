import type { Adapter, AdapterContext, AdapterKind } from '../run/attempt/adapter.ts';
import type { Intake } from '../run/attempt/intake.ts';
import { isOkExit } from '../run/outcome.ts';
import { LINE_WAS_CUT } from './json-object.ts';
import { failedWith, OutputText } from './jsonl.ts';

export const PLAIN: AdapterKind = { make: (context) => new PlainAdapter(context), isText: true };

/** Any program (contract §1): each line of stdout is a `log`, and the exit code decides between result and error. */
class PlainAdapter implements Adapter {
  readonly keepsEmptyLines = true;
  readonly #intake: Intake;
  readonly #exitCodes: Readonly<Record<string, number>>;
  readonly #text: OutputText;
  /** The lines of the one JSON document (`output: json`). The output limit bounds them. */
  readonly #json: string[] | undefined;
  #hasCutJson = false;

  constructor(context: AdapterContext) {
    const { output, exit_codes } = context.plan.tool.manifest;
    this.#intake = context.intake;
    this.#text = new OutputText(context);
    if (output === 'json') this.#json = [];
    this.#exitCodes = exit_codes;
  }

  line(bytes: Uint8Array, start: number, end: number, cut: boolean): void {
    const msg = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
    if (this.#json !== undefined) {
      this.#json.push(msg);
      this.#hasCutJson ||= cut;
      return;
    }
    this.#text.add(bytes, start, end);
    // An empty line is part of the text, but no event.
    if (msg === '') return;
    if (cut) this.#intake.accept({ type: 'log', level: 'info', msg, cut });
    else this.#intake.plainLine(msg);
  }

  end(rc: number | null): void {
    if (rc === null) return;
    if (!isOkExit(rc, this.#exitCodes)) {
      this.#intake.accept(failedWith(rc, this.#text));
    } else if (this.#json !== undefined) this.#endWithJson(this.#json);
    else {
      const data = this.#text.data();
      this.#intake.accept({
        type: 'result',
        status: 'ok',
        metrics: { lines: this.#text.lines },
        data,
      });
    }
  }

  #endWithJson(lines: readonly string[]): void {
    if (this.#hasCutJson) {
      this.#intake.accept({
        type: 'error',
        code: 'E_PROTOCOL',
        msg: `the manifest says output: json, but the JSON ${LINE_WAS_CUT}`,
        hint: 'Print the JSON on several lines (indented), or write it to a file in ARTIFACTS_DIR.',
      });
      return;
    }
    try {
      this.#intake.accept({ type: 'result', status: 'ok', data: JSON.parse(lines.join('\n')) });
    } catch (error) {
      this.#intake.accept({
        type: 'error',
        code: 'E_PROTOCOL',
        msg: `the manifest says output: json, but stdout is not valid JSON: ${(error as Error).message}`,
        hint: 'Set output: text in the manifest, or make the program print exactly one JSON document.',
      });
    }
  }
}
