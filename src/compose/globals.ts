/** The flags that every command accepts. */
export interface GlobalFlags {
  json: boolean;
  toon: boolean;
  /** Readable text, also in a pipe. */
  text: boolean;
  /** Dotted paths to keep. */
  fields: readonly string[] | undefined;
  limit: number | undefined;
  offset: number | undefined;
  /** Estimated tokens, for agents: the list is cut to as many. */
  maxTokens: number | undefined;
  help: boolean;
  version: boolean;
  /** As typed; the resolved directory is `cwd` of the io that `openContext` gets. */
  cwd: string | undefined;
}

/** A global flag in help and catalog. */
export interface GlobalFlag {
  name: string;
  short?: string;
  type: 'boolean' | 'string' | 'integer';
  description: string;
}

/** The list of all global flags. */
export const GLOBAL_FLAGS: readonly GlobalFlag[] = [
  { name: 'json', type: 'boolean', description: 'Write the JSON envelope, also at a terminal.' },
  { name: 'toon', type: 'boolean', description: 'Write the same envelope as TOON.' },
  {
    name: 'format',
    type: 'string',
    description: 'text: readable text, also in a pipe. json: the same as --json.',
  },
  {
    name: 'fields',
    type: 'string',
    description: 'Keep only these fields of the answer: dotted paths, separated by commas.',
  },
  {
    name: 'limit',
    type: 'integer',
    description: 'Keep at most this many elements of the list in the answer.',
  },
  { name: 'offset', type: 'integer', description: 'Skip this many elements at the start of the list.' },
  {
    name: 'max-tokens',
    type: 'integer',
    description: 'Keep as much of the list as fits in about this many tokens of a language model.',
  },
  {
    name: 'input-json',
    type: 'string',
    description: "The input as a JSON object: '{…}', @file, or - for stdin. Flags win over it.",
  },
  { name: 'cwd', type: 'string', description: 'Work in this directory.' },
  { name: 'help', short: 'h', type: 'boolean', description: 'Show help.' },
  { name: 'version', short: 'V', type: 'boolean', description: 'Show the version.' },
];

/** Whether the caller selects only a part of the answer. */
export function asksForPart({ fields, limit, offset, maxTokens }: GlobalFlags): boolean {
  return [fields, limit, offset, maxTokens].some((each) => each !== undefined);
}

/** The values without any global flag. */
export const NO_GLOBAL_FLAGS: GlobalFlags = {
  json: false,
  toon: false,
  text: false,
  fields: undefined,
  limit: undefined,
  offset: undefined,
  maxTokens: undefined,
  help: false,
  version: false,
  cwd: undefined,
};

// `--input-json` belongs to the called program, and `--version` after its name does not ask for the version of this
// program.
const NOT_BEHIND = ['input-json', 'version'];

/** The global flag in an argument of a called program, unless that program declares it. */
export function globalBehind(arg: string): GlobalFlag | undefined {
  const name = /^--([a-z-]+)(?:=|$)/.exec(arg)?.[1];
  if (name === undefined || NOT_BEHIND.includes(name)) return undefined;
  return GLOBAL_FLAGS.find((flag) => flag.name === name);
}
