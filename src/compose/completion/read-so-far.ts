import { GLOBAL_FLAGS } from '../globals.ts';
import type { Parameter } from '../parameters.ts';

/** The words between the command and the cursor. */
export interface PartialArgs {
  flags: Map<string, string>;
  positionals: string[];
  /** The flag whose value is next. */
  open: Parameter | 'global' | undefined;
  /** The words after the name of a called program. */
  behind: string[] | undefined;
}

/** Parses the words; errors are left to the command. */
export function readSoFar(
  args: readonly string[],
  flags: readonly Parameter[],
  passes: boolean,
): PartialArgs {
  const read: PartialArgs = { flags: new Map(), positionals: [], open: undefined, behind: undefined };
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!;
    if (!arg.startsWith('-') || arg === '-') {
      read.positionals.push(arg);
      if (!passes) continue;
      read.behind = args.slice(index + 1);
      return read;
    }
    const [name, inline] = arg.startsWith('--') ? arg.slice(2).split('=', 2) : [];
    const letter = name === undefined ? arg.at(-1) : undefined;
    const flag = flags.find((each) => each.flag === name || (letter !== undefined && each.short === letter));
    const global = flag === undefined ? GLOBAL_FLAGS.find((each) => each.name === name) : undefined;
    const isSwitch =
      flag === undefined ? global === undefined || global.type === 'boolean' : flag.kind === 'boolean';
    if (inline !== undefined || isSwitch) {
      if (flag !== undefined) read.flags.set(flag.key, inline ?? '');
      continue;
    }
    if (index + 1 === args.length) read.open = flag ?? 'global';
    else if (flag !== undefined) read.flags.set(flag.key, args[index + 1]!);
    index++;
  }
  return read;
}
