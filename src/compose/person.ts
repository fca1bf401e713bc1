/** The person at the terminal, whom operations can ask. */
export interface Person {
  /** Shows lines, and asks for one line of text; empty when the person cancels. */
  askForText(lines: readonly string[], message: string): Promise<string>;
  /** Asks for one line without echoing it; undefined when the person cancels. */
  askForSecret(message: string): Promise<string | undefined>;
  /**
   * Asks the question of a program; undefined when the person cancels or the signal ends it. Missing on a terminal that
   * cannot redraw lines.
   */
  ask?(
    question: ProgramQuestion,
    check: (value: unknown) => string | undefined,
    signal: AbortSignal,
  ): Promise<{ value: unknown } | undefined>;
  /** Shows a line, even while a live view is drawn. */
  say(line: string): void;
}

/** A question of a program. All its texts are untrusted. */
export interface ProgramQuestion {
  actionId: string;
  action: string;
  audience: 'ai' | 'user' | 'model' | 'client';
  msg: string | undefined;
  context: Readonly<Record<string, unknown>>;
  options: readonly { id: string; label?: string; description?: string }[] | undefined;
  /** JSON Schema of the answer. */
  schema: Readonly<Record<string, unknown>> | undefined;
  default: { value: unknown } | undefined;
  /** The command line asks, and not a program that it runs: the question needs no sender. */
  isOwn?: true;
}
