import { type CommandLine, readFlags } from './flags.ts';
import { declares, type ForwardedCommand } from './forwarded-command.ts';
import { globalBehind, NO_GLOBAL_FLAGS } from './globals.ts';

/**
 * Extracts the global flags from the arguments of a called program, up to the first `--`, except those that the program
 * declares itself.
 */
export function takeGlobals(line: CommandLine, callee: ForwardedCommand | undefined): void {
  const args = line.passthrough ?? [];
  const mine: string[] = [];
  const theirs: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!;
    if (arg === '--') {
      theirs.push(...args.slice(index));
      break;
    }
    const flag = globalBehind(arg);
    if (flag === undefined || declares(callee, flag.name)) theirs.push(arg);
    else {
      mine.push(arg);
      if (flag.type !== 'boolean' && !arg.includes('=') && index + 1 < args.length) mine.push(args[++index]!);
    }
  }
  line.passthrough = theirs;
  join(line, readFlags([], mine));
}

function join(line: CommandLine, behind: CommandLine): void {
  line.problems.push(...behind.problems);
  const before = line.globals;
  for (const name of ['limit', 'offset', 'maxTokens', 'cwd'] as const) {
    if (before[name] === undefined || behind.globals[name] === undefined) continue;
    const flag = name === 'maxTokens' ? '--max-tokens' : `--${name}`;
    line.problems.push({ parameter: flag, message: `${flag} is repeated; it takes one value` });
  }
  const given = Object.entries(behind.globals).filter(
    ([name, value]) => value !== NO_GLOBAL_FLAGS[name as keyof typeof NO_GLOBAL_FLAGS],
  );
  line.globals = { ...before, ...Object.fromEntries(given) };
  if (before.fields !== undefined && behind.globals.fields !== undefined)
    line.globals.fields = [...before.fields, ...behind.globals.fields];
}
