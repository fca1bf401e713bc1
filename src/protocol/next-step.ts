/**
 * An operation of ACOR that leads on. Each surface renders it in its own way: a command line, a tool call, a request.
 */
export interface OperationStep {
  /** The operation's dotted name, such as `run.resume`. */
  operation: string;
  input: Readonly<Record<string, unknown>>;
  /** Why to run it, in one sentence. */
  why: string;
}

/** A command of another program, such as `chmod`; it needs a shell. */
export interface ShellStep {
  command: string;
  why: string;
}

export type NextStep = OperationStep | ShellStep;

/** Renders a next step as an exact shell command. */
export type CommandOf = (step: NextStep) => string;
