import { editDistance, nearest } from '../util/nearest.ts';
import { AppError, EXIT, usageError } from './app-error.ts';
import type { CliApp } from './cli-app.ts';
import type { CommandLine } from './flags.ts';
import { GLOBAL_FLAGS } from './globals.ts';
import type { NextStep } from './next-step.ts';
import { calledAs, writeCommand } from './write-command.ts';

/** The command that an argument list calls. */
export interface FoundCommand<R> {
  /** Undefined when no route has these words. */
  route: R | undefined;
  /** The recognised words: a command, or the beginning of one. */
  words: string[];
  /** The remaining flags and positionals, including global flags before the command. */
  args: string[];
}

/** Finds the longest matching command; global flags may be before and between its words. */
export function findCommand<R extends { command: string }>(
  routes: readonly R[],
  argv: readonly string[],
  aliases: Readonly<Record<string, string>> = {},
): FoundCommand<R> {
  const words: string[] = [];
  const globals: string[] = [];
  let index = 0;
  while (index < argv.length) {
    const arg = argv[index]!;
    const alias = words.length === 0 && Object.hasOwn(aliases, arg) ? aliases[arg] : undefined;
    if (alias !== undefined) {
      words.push(...alias.split(' '));
      index++;
      continue;
    }
    if (arg.startsWith('-')) {
      const length = routes.some((route) => route.command === words.join(' '))
        ? 0
        : globalLength(argv, index);
      if (length === 0) break;
      globals.push(...argv.slice(index, index + length));
      index += length;
      continue;
    }
    const longer = [...words, arg].join(' ');
    if (!isBeginning(longer, routes)) break;
    words.push(arg);
    index++;
  }
  const command = words.join(' ');
  const route = routes.find((each) => each.command === command);
  const rest = argv.slice(index);
  if (route === undefined && words.length === 0 && rest[0] === 'help') {
    return findCommand(routes, [...globals, ...rest.slice(1), '--help'], aliases);
  }
  return { route, words, args: [...globals, ...rest] };
}

function isBeginning(words: string, routes: readonly { command: string }[]): boolean {
  const beginning = `${words} `;
  for (const { command } of routes) if (command === words || command.startsWith(beginning)) return true;
  return false;
}

/** The number of arguments that the global flag at this index takes; 0 when there is no global flag. */
function globalLength(argv: readonly string[], index: number): number {
  const arg = argv[index]!;
  const [name, inline] = arg.slice(2).split('=', 2);
  const flag = GLOBAL_FLAGS.find((each) =>
    arg.startsWith('--') ? each.name === name : arg === `-${each.short}`,
  );
  if (flag === undefined) return 0;
  return flag.type === 'boolean' || inline !== undefined ? 1 : Math.min(2, argv.length - index);
}

/** The E_USAGE for a command line whose words are not a command, or only the beginning of one. */
export function unknownCommand(
  app: Pick<CliApp<never>, 'name' | 'callAs' | 'routes' | 'beginWith'>,
  found: FoundCommand<unknown>,
  line: CommandLine,
  meant?: NextStep,
): AppError {
  const program = calledAs(app);
  const word = line.unplaced[0];
  if (word === undefined && line.problems.length > 0) {
    return usageError(line.problems, [program, ...found.words].join(' '));
  }
  const commands = app.routes.filter((route) => route.hidden !== true).map((route) => route.command);
  const begun = found.words.join(' ');
  const inside = commands.filter((command) => command.startsWith(`${begun} `));
  const guess =
    word === undefined || meant !== undefined
      ? undefined
      : ((begun === '' ? inNearestGroup(line.unplaced, commands) : undefined) ??
        nearestCommand(`${begun} ${word}`.trim(), word, commands));
  const message =
    word !== undefined
      ? `unknown command ${JSON.stringify(`${begun} ${word}`.trim())}`
      : begun === ''
        ? 'the command is missing'
        : `${JSON.stringify(begun)} needs one of its commands`;
  const begin = app.beginWith ?? 'tools';
  const hints = [
    ...(meant === undefined
      ? []
      : [`Did you mean ${writeCommand(program, app.routes, meant, line.globals.cwd)}?`]),
    ...(guess === undefined ? [] : [`Did you mean ${program} ${guess}?`]),
    ...(begun !== '' && inside.length > 0 ? [`Commands: ${inside.join(', ')}.`] : []),
    `See: ${program} ${begin}, or ${program} --help`,
  ];
  return new AppError('E_USAGE', message, {
    hint: hints.join(' '),
    exit: EXIT.failed,
    next: [
      ...(meant === undefined ? [] : [meant]),
      ...(guess === undefined
        ? []
        : [{ command: `${program} ${guess} --help`, why: 'Show how the command is called.' }]),
      { command: `${program} ${begin}`, why: 'Read how it is used.' },
      { command: `${program} --help`, why: 'List the commands.' },
    ],
  });
}

/** The command of a misspelt group: `secrets list` means `secret list`, and so does `secrets` alone. */
function inNearestGroup(
  [word = '', then]: readonly string[],
  commands: readonly string[],
): string | undefined {
  const group = commands.filter((command) => {
    const [first = '', ...others] = command.split(' ');
    return others.length > 0 && editDistance(word, first) <= 1;
  });
  const named = then === undefined ? undefined : nearest(`${word} ${then}`, group);
  return named ?? group.find((command) => command.endsWith(' list'));
}

/** Compares the whole command, then its first word alone: `lst` in `lst --all`. */
function nearestCommand(whole: string, word: string, commands: readonly string[]): string | undefined {
  const byWhole = nearest(whole, commands);
  if (byWhole !== undefined) return byWhole;
  const lastWords = commands.filter((command) => command.split(' ').at(-1) === word);
  return lastWords[0] ?? commands.find((command) => nearest(word, [command.split(' ')[0]!]) !== undefined);
}
