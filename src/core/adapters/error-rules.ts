import { LinearPattern } from '../../protocol/linear-pattern.ts';
import type { ErrorRule } from '../../protocol/manifest-output.ts';

/** A longer line is searched up to here. */
const MAX_CHARS = 4096;

/** The error that a rule of the manifest recognises. */
export interface RecognizedError {
  code: string;
  /** The line on stderr that it recognised; undefined when the exit code alone says it. */
  line: string | undefined;
  hint: string | undefined;
}

/** Recognises failures of a program by its exit code and its lines on stderr: the first rule that matches applies. */
export class ErrorRules {
  readonly #rules: { rule: ErrorRule; pattern: LinearPattern | undefined; line: string | undefined }[];

  constructor(rules: readonly ErrorRule[]) {
    this.#rules = rules.map((rule) => ({
      rule,
      pattern: rule.match === undefined ? undefined : new LinearPattern(rule.match),
      line: undefined,
    }));
  }

  /** One line of stderr. Each rule keeps the first that it matches. */
  see(text: string): void {
    const line = text.slice(0, MAX_CHARS);
    for (const each of this.#rules)
      if (each.line === undefined && each.pattern?.search(line) !== undefined) each.line = line;
  }

  errorOf(rc: number): RecognizedError | undefined {
    const found = this.#rules.find(
      ({ rule, pattern, line }) =>
        (rule.exit === undefined || rule.exit === rc) && (pattern === undefined || line !== undefined),
    );
    return found && { code: found.rule.code, line: found.line, hint: found.rule.hint };
  }
}
