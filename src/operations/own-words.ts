/** The words for a caller without a command line: one that makes calls of MCP, or a program that uses the library. */
interface OtherWords {
  calls?: string;
  library?: string;
}

/**
 * What ACOR's own errors and warnings say of flags and commands, and the same for such callers. Each is a part that ACOR writes itself: the rest of
 * a text may be a value, a path or the words of a tool, and remains as it is.
 */
export const OWN_WORDS: Readonly<Record<string, OtherWords>> = {
  'longer timeout (--timeout 3600, in seconds)': {
    calls: 'longer timeout (timeout 3600, in seconds)',
    library: 'longer timeout (timeoutS: 3600, or timeout: 3600 of an operation)',
  },
  'If a repeat is harmless, add --force': {
    calls: 'If a repeat is harmless, add force',
    library: 'If a repeat is harmless, add force: true',
  },
  'If a repeat is harmless, resume the workflow with --force': {
    calls: 'If a repeat is harmless, resume the workflow with force',
    library: 'If a repeat is harmless, resume the workflow with force: true',
  },
  'start a new run, or add --force': {
    calls: 'start a new run, or add force',
    library: 'start a new run, or add force: true',
  },
  'Resume it with --force only if': {
    calls: 'Resume it with force only if',
    library: 'Resume it with force: true only if',
  },
  'Run it with --dry-run: the output has the plan, and the command with its token': {
    calls: 'Run it with dry_run: the answer has the plan, and the call with its token',
    library: 'Start it with dry_run: true: the answer has the plan, and its token',
  },
  'Run it with --dry-run again': {
    calls: 'Run it with dry_run again',
    library: 'Start it with dry_run: true again',
  },
  'new run: with --dry-run first': {
    calls: 'new run: with dry_run first',
    library: 'new run: with dry_run: true first',
  },
  'in time, or beforehand: --answer ': {
    calls: 'in time, or beforehand, in the answers of acor_run: ',
    library: 'in time, or beforehand, in the option answers: ',
  },
  '--top-level and --parent exclude': {
    calls: 'top_level and parent exclude',
    library: 'top_level and parent exclude',
  },
  'To run the tool: acor run ': { calls: 'To run the tool: acor_run ' },
  'To read and trust them: acor trust': { calls: 'To read and trust them, at a terminal: acor trust' },
  // A client cannot change the environment of its server.
  'Set it, then run again: export ': {
    calls: 'The user sets it in the environment of this server, and starts the server again: ',
  },
  '--net must be host:port': { library: 'net must be host:port' },
  'pass the flag --net ': { library: 'add to the option net: ' },
  'pass the flag --cmd ': { library: 'add to the option cmd: ' },
  'pass the flag --read ': { library: 'add to the option read: ' },
  'pass the flag --write ': { library: 'add to the option write: ' },
  'one --write for each': { library: 'one entry of write for each' },
  'or pass --executor ': { library: 'or pass the option executor: ' },
  'choose another one with --executor': { library: 'choose another one with the option executor' },
  'Give the new one another --name': { library: 'Give the new one another name' },
  'Add --keep N, --older-than ': { library: 'Add keep: N, older_than: ' },
  'Preview with --dry-run': { library: 'Preview with dry_run: true' },
};

/** An error or a warning of ACOR in the words of such a caller. */
export function inWordsOf(caller: keyof OtherWords, text: string): string {
  return Object.entries(OWN_WORDS).reduce(
    (said, [own, { [caller]: other = own }]) => said.replaceAll(own, () => other),
    text,
  );
}
