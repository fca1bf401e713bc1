import { LinearPattern } from '../../protocol/linear-pattern.ts';
import type { Adapter, AdapterContext, AdapterKind } from '../run/attempt/adapter.ts';
import { FileClaims } from './file-claims.ts';
import { warnOfReplaced } from './json-object.ts';
import { compiledRule, EVENT_DEFAULTS, type Message, type Rule } from './jsonl-map.ts';
import { PLAIN } from './plain.ts';

export const TEXT_MAP: AdapterKind = {
  make: (context) => new TextMapAdapter(context),
  isText: true,
  splitsAtReturn: true,
};

/** A longer line is searched up to here. */
const MAX_CHARS = 4096;
/** A number that a group found; its text is kept where the number would be written in another way, such as `00123` or `1.10`. */
const NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?$/;
/** Fields that are text even if a group found digits. */
const TEXTS = ['msg', 'path', 'code', 'hint', 'step', 'action'];
/** Fields that are numbers however they are written. */
const NUMBERS = ['pct', 'timeout_s'];

/** Maps the lines of a program by the patterns of the manifest: the first that matches applies. The rest is like the output of any program. */
class TextMapAdapter implements Adapter {
  readonly #context: AdapterContext;
  readonly #claims: FileClaims;
  readonly #others: Adapter;
  readonly #rules: readonly { pattern: LinearPattern; rule: Rule }[];

  constructor(context: AdapterContext) {
    this.#context = context;
    this.#claims = new FileClaims(context);
    this.#others = PLAIN.make(context);
    this.#rules = (context.plan.tool.manifest.map ?? []).map((rule) => ({
      pattern: new LinearPattern(rule.match ?? ''),
      rule: compiledRule(rule),
    }));
  }

  get files() {
    return this.#claims.measured;
  }

  line(bytes: Uint8Array, start: number, end: number, cut: boolean): void {
    const { from } = this.#context.plan.tool.manifest;
    if (from !== 'stderr' && this.#take(bytes, start, end)) return;
    this.#others.line(bytes, start, end, cut);
  }

  errorLine(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.#context.plan.tool.manifest.from !== 'stdout' && this.#take(bytes, start, end)) return true;
    return this.#others.errorLine?.(bytes, start, end) ?? false;
  }

  settle(): Promise<void> {
    return this.#claims.settle();
  }

  end(rc: number | null): void {
    if (this.#context.intake.ending === undefined) this.#others.end(rc);
  }

  #take(bytes: Uint8Array, start: number, end: number): boolean {
    const view = bytes.subarray(start, end);
    const line = Buffer.from(view.buffer, view.byteOffset, view.length).toString('utf8').slice(0, MAX_CHARS);
    for (const { pattern, rule } of this.#rules) {
      const groups = pattern.search(line);
      if (groups === undefined) continue;
      warnOfReplaced(this.#context.intake, line, view);
      const values = Object.entries(groups).map(([name, text]) => [
        name,
        NUMBER.test(text) && String(Number(text)) === text ? Number(text) : text,
      ]);
      const fields = rule.fields({ line, ...Object.fromEntries(values) }) as Message;
      for (const name of TEXTS) if (typeof fields[name] === 'number') fields[name] = String(fields[name]);
      for (const name of NUMBERS) if (NUMBER.test(String(fields[name]))) fields[name] = Number(fields[name]);
      if (rule.to === 'artifact') {
        if (typeof fields['path'] === 'string') this.#claims.add(fields['path'], null);
      } else this.#context.intake.accept({ ...EVENT_DEFAULTS[rule.to], ...fields, type: rule.to });
      return true;
    }
    return false;
  }
}
