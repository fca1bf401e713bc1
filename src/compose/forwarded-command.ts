/** The program that an operation passes arguments to, as it describes itself. Its texts are untrusted. */
export interface ForwardedCommand {
  name: string;
  /** A one-line description; empty when it has none. */
  summary: string;
  /** Its usage, in one line. */
  usage: string;
  /** Full invocations. */
  examples: readonly string[];
  /** Null for one that accepts any arguments. */
  inputs: readonly CalleeInput[] | null;
  /** Every argument is its own, also one that looks like a global flag. */
  ownsArguments?: boolean;
}

/** One declared input of a called program. */
export interface CalleeInput {
  name: string;
  /** As typed: `--name` or `-n`; the input's name for a positional. */
  label: string;
  /** A further spelling, `-n`. */
  short?: string;
  type: string;
  isPositional: boolean;
  /** A flag without a value. */
  isSwitch: boolean;
  isRequired: boolean;
  isRepeatable: boolean;
  isPath: boolean;
  /** The only allowed values. */
  choices: readonly string[];
  description: string;
  /** Undefined when there is none. */
  default: unknown;
}

/** Whether a called program declares a flag of this name (without dashes) itself. */
export function declares(callee: ForwardedCommand | undefined, flag: string): boolean {
  return (callee?.inputs ?? []).some(
    ({ name, label }) => name.replaceAll('_', '-') === flag || label.replace(/^-+/, '') === flag,
  );
}
