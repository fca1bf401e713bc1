/**
 * An operation of the application that leads on. Each surface renders it in its own way: a command line, a tool call, a
 * request.
 */
export interface OperationStep {
  /** The operation's dotted name. */
  operation: string;
  input: Readonly<Record<string, unknown>>;
  /** Why to run it, in one sentence. */
  why: string;
}

/** A shell command: of another program, or help of this one. */
export interface ShellStep {
  command: string;
  why: string;
}

export type NextStep = OperationStep | ShellStep;
