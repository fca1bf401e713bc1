import { isQuickPattern } from './input-types.ts';
import { LinearPattern } from './linear-pattern.ts';
import { TooCostly } from './too-costly.ts';

/** For a text of this length each pattern must have a bound, or it is refused. */
const SHORT_TEXT = 40;

/**
 * A regular expression (of JavaScript, with the flag `u`) whose test takes no exponential time: the engine of JavaScript tests it where that
 * is quick, and ours elsewhere. Throws a SyntaxError for what is no pattern, and for one that neither of them can test.
 */
export class BoundedPattern {
  readonly #source: string;
  readonly #native: RegExp;
  #linear: LinearPattern | undefined;

  constructor(source: string) {
    this.#source = source;
    this.#native = new RegExp(source, 'u');
    if (!isQuickPattern(source, SHORT_TEXT)) this.#linear = this.#newLinear();
  }

  /** Calls `tick` often while it searches; throws what that throws, and TooCostly. */
  test(text: string, tick: () => void): boolean {
    if (isQuickPattern(this.#source, text.length)) return this.#native.test(text);
    try {
      this.#linear ??= this.#newLinear();
    } catch (error) {
      throw new TooCostly(
        `a text of ${text.length} characters is too long for it: ${(error as Error).message}`,
      );
    }
    return this.#linear.search(text, tick) !== undefined;
  }

  #newLinear(): LinearPattern {
    try {
      return new LinearPattern(this.#source, { isInFull: true });
    } catch (error) {
      throw new SyntaxError(
        `a search may take time without an end, because of a repetition in a repetition or of many alternatives, and none is possible step by step: ${(error as Error).message}`,
      );
    }
  }
}
