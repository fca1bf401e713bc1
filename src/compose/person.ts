/** The person at the terminal, as operations ask them. */
export interface Person {
  /** Shows lines, and asks for one line of text; empty when the person leaves the question. */
  askForText(lines: readonly string[], message: string): Promise<string>;
  /** Asks for one line that is not shown as it is typed; undefined when the person leaves the question. */
  askForSecret(message: string): Promise<string | undefined>;
  /** Puts the question of a program; undefined when the person leaves it or the signal ends it. Missing on a terminal that cannot redraw lines. */
  ask?(
    question: ProgramQuestion,
    check: (value: unknown) => string | undefined,
    signal: AbortSignal,
  ): Promise<{ value: unknown } | undefined>;
  /** Shows a line, also while a live view is drawn. */
  say(line: string): void;
}

/** A question of a program. Every text in it may be a stranger's. */
export interface ProgramQuestion {
  actionId: string;
  action: string;
  audience: 'ai' | 'user';
  msg: string | undefined;
  context: Readonly<Record<string, unknown>>;
  options: readonly { id: string; label?: string; description?: string }[] | undefined;
  /** JSON Schema of the answer. */
  schema: Readonly<Record<string, unknown>> | undefined;
  default: { value: unknown } | undefined;
}
