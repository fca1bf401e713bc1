/** The value of an option: its name in the help, whether it is optional, and whether it is joined to the option. */
export interface ValueShape {
  /** For example `FILE` or `always|never`. */
  name: string;
  isOptional: boolean;
  isJoined: boolean;
  /** It follows the option in a usage line, but could also be an operand. */
  isGuess?: boolean;
}

/** An option that a help text describes. */
export interface FoundOption {
  /** As a user types them, in the order of the help: `-o`, `--output`. */
  spellings: string[];
  /** The spellings that disable it: `--no-color` of `--[no-]color`. */
  negations: string[];
  /** Null for a switch. */
  value: ValueShape | null;
  repeats: boolean;
  isRequired: boolean;
  /** Its description, on one line. */
  text: string;
  /** Where it was found, unless that is the help of the program. */
  source?: string;
  /** The source names the option, and does not say whether it takes a value. */
  isValueUnknown?: boolean;
}

/** An operand in the usage line. */
export interface FoundPositional {
  name: string;
  repeats: boolean;
  isRequired: boolean;
  text: string;
}

/** A subcommand and its description. */
export interface FoundCommand {
  name: string;
  text: string;
}

/** The content of one help text. */
export interface ReadHelp {
  description: string;
  options: FoundOption[];
  positionals: FoundPositional[];
  commands: FoundCommand[];
  /** Lines that look like options but could not be parsed. */
  unread: string[];
}
