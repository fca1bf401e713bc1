import { settingsOf } from '../../protocol/output-settings.ts';
import type { Adapter, AdapterContext, AdapterKind } from '../run/attempt/adapter.ts';
import type { Intake } from '../run/attempt/intake.ts';
import { isOkExit } from '../run/outcome.ts';
import { ErrorRules } from './error-rules.ts';
import { LINE_WAS_CUT, warnOfReplaced } from './json-object.ts';
import { failedWith, OutputText } from './jsonl.ts';
import { parseOutput } from './parse-output.ts';

export const PLAIN: AdapterKind = { make: (context) => new PlainAdapter(context), isText: true };

/** Any program (contract §1): each line of stdout is a `log`, and the exit code decides between result and error. */
class PlainAdapter implements Adapter {
  readonly keepsEmptyLines = true;
  readonly #intake: Intake;
  readonly #manifest: AdapterContext['plan']['tool']['manifest'];
  readonly #text: OutputText;
  /** The lines of an output with a declared form. The output limit bounds them. */
  readonly #lines: string[] | undefined;
  #hasCutLine = false;
  readonly #errors: ErrorRules | undefined;

  constructor(context: AdapterContext) {
    const { manifest } = context.plan.tool;
    this.#manifest = manifest;
    this.#intake = context.intake;
    this.#text = new OutputText(context);
    if (settingsOf(manifest.output).format !== 'text') this.#lines = [];
    if (manifest.errors !== undefined) this.#errors = new ErrorRules(manifest.errors);
  }

  line(bytes: Uint8Array, start: number, end: number, cut: boolean): void {
    const msg = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
    if (this.#lines !== undefined) {
      this.#lines.push(msg);
      if (!cut) warnOfReplaced(this.#intake, msg, bytes.subarray(start, end));
      this.#hasCutLine ||= cut;
      return;
    }
    this.#text.add(bytes, start, end, cut);
    if (cut) this.#intake.accept({ type: 'log', level: 'info', msg, cut });
    else this.#intake.plainLine(msg);
  }

  errorLine(bytes: Uint8Array, start: number, end: number): boolean {
    this.#errors?.see(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8'));
    return false;
  }

  end(rc: number | null): void {
    if (rc === null) return;
    if (!isOkExit(rc, this.#manifest.exit_codes)) this.#fail(rc);
    else if (this.#lines !== undefined) this.#endWithData(this.#lines);
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

  #fail(rc: number): void {
    const failure = failedWith(rc, this.#text);
    const known = this.#errors?.errorOf(rc);
    if (known === undefined) this.#intake.accept(failure);
    else {
      const { code, line: msg, hint } = known;
      this.#intake.accept({
        ...failure,
        code,
        ...(msg !== undefined && { msg }),
        ...(hint !== undefined && { hint }),
      });
    }
  }

  #endWithData(lines: readonly string[]): void {
    const { output } = this.#manifest;
    const { format } = settingsOf(output);
    if (this.#hasCutLine) {
      this.#intake.accept({
        type: 'error',
        code: 'E_PROTOCOL',
        msg: `the manifest says output: ${format}, but the ${format === 'json' ? 'JSON' : 'output'} ${LINE_WAS_CUT}`,
        hint:
          format === 'json'
            ? 'Print the JSON on several lines (indented), or write it to a file in ARTIFACTS_DIR.'
            : 'Print shorter lines, or write them to a file in ARTIFACTS_DIR.',
      });
      return;
    }
    const parsed = parseOutput(output, lines);
    if ('problem' in parsed) {
      this.#intake.accept({
        type: 'error',
        code: 'E_PROTOCOL',
        msg: `the manifest says output: ${format}, but stdout has another form: ${parsed.problem}`,
        hint: 'Declare the form of stdout under output in the manifest, or set output: text.',
      });
      return;
    }
    for (const warning of parsed.warnings) this.#intake.warnOnce(`output:${warning}`, undefined, warning);
    this.#intake.accept({ type: 'result', status: 'ok', data: parsed.data });
  }
}
