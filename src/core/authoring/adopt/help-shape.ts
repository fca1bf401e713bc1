/** What follows an option: its name in the help, and whether it may be left out or is written in one word with the option. */
export interface ValueShape {
  /** Such as `FILE` or `always|never`. */
  name: string;
  isOptional: boolean;
  isJoined: boolean;
  /** Stands behind the option in a call, and may as well be an operand. */
  isGuess?: boolean;
}

/** An option as a help text tells of it. */
export interface FoundOption {
  /** As they are typed, in the help's order: `-o`, `--output`. */
  spellings: string[];
  /** What sets it to no: `--no-color` of `--[no-]color`. */
  negations: string[];
  /** Null for a switch. */
  value: ValueShape | null;
  repeats: boolean;
  isRequired: boolean;
  /** Its description, on one line. */
  text: string;
}

/** An operand as the usage line tells of it. */
export interface FoundPositional {
  name: string;
  repeats: boolean;
  isRequired: boolean;
  text: string;
}

/** A subcommand, and what the help says of it. */
export interface FoundCommand {
  name: string;
  text: string;
}

/** What was read from one help text. */
export interface ReadHelp {
  description: string;
  options: FoundOption[];
  positionals: FoundPositional[];
  commands: FoundCommand[];
  /** Lines that look like options and could not be read. */
  unread: string[];
}
