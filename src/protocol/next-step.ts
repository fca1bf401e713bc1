/** An operation of ACOR that leads on. Each surface renders it in its own way: a command line, a tool call, a request. */
export interface OperationStep {
  /** The operation's dotted name, such as `run.resume`. */
  operation: string;
  input: Readonly<Record<string, unknown>>;
  /** What it is good for, in one sentence. */
  why: string;
}

/** A command of another program, such as `chmod`; it needs a shell. */
export interface ShellStep {
  command: string;
  why: string;
}

export type NextStep = OperationStep | ShellStep;

/** Renders a next step as the exact command for a shell. */
export type CommandOf = (step: NextStep) => string;
