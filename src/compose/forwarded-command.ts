/** The program that an operation passes arguments on to, as far as it describes itself. Its texts are a stranger's. */
export interface ForwardedCommand {
  name: string;
  /** What it does, in a line; empty where it does not say. */
  summary: string;
  /** How it is called, in one line. */
  usage: string;
  /** Full invocations. */
  examples: readonly string[];
  /** Null for one that takes whatever it is given. */
  inputs: readonly CalleeInput[] | null;
}

/** One input that a called program declares. */
export interface CalleeInput {
  name: string;
  /** As it is written: `--name` or `-n`; the input's name where it is given by position. */
  label: string;
  type: string;
  isPositional: boolean;
  /** A flag without a value. */
  isSwitch: boolean;
  isRequired: boolean;
  isRepeatable: boolean;
  isPath: boolean;
  /** The only values allowed. */
  choices: readonly string[];
  description: string;
  /** Undefined when there is none. */
  default: unknown;
}

/** Whether a called program declares a flag of this name (without dashes) for itself. */
export function declares(callee: ForwardedCommand | undefined, flag: string): boolean {
  return (callee?.inputs ?? []).some(
    ({ name, label }) => name.replaceAll('_', '-') === flag || label.replace(/^-+/, '') === flag,
  );
}
