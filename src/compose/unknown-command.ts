import { nearest } from '../util/nearest.ts';
import { AppError, EXIT } from './app-error.ts';
import type { CliApp } from './cli-app.ts';
import type { FoundCommand } from './find-command.ts';
import type { CommandLine } from './flags.ts';
import { usageError } from './usage-error.ts';

/** The E_USAGE for a command line whose words are not a command, or only the beginning of one. */
export function unknownCommand(
  app: Pick<CliApp<never>, 'name' | 'routes'>,
  found: FoundCommand<unknown>,
  line: CommandLine,
): AppError {
  const word = line.unplaced[0];
  if (word === undefined && line.problems.length > 0) {
    return usageError(line.problems, [app.name, ...found.words].join(' '));
  }
  const commands = app.routes.filter((route) => route.hidden !== true).map((route) => route.command);
  const begun = found.words.join(' ');
  const inside = commands.filter((command) => command.startsWith(`${begun} `));
  const guess = word === undefined ? undefined : nearestCommand(`${begun} ${word}`.trim(), word, commands);
  const message =
    word !== undefined
      ? `unknown command ${JSON.stringify(`${begun} ${word}`.trim())}`
      : begun === ''
        ? 'the command is missing'
        : `${JSON.stringify(begun)} needs one of its commands`;
  const hints = [
    ...(guess === undefined ? [] : [`Did you mean ${app.name} ${guess}?`]),
    ...(begun !== '' && inside.length > 0 ? [`Commands: ${inside.join(', ')}.`] : []),
    `See: ${app.name} tools, or ${app.name} --help`,
  ];
  return new AppError('E_USAGE', message, {
    hint: hints.join(' '),
    exit: EXIT.failed,
    next: [
      ...(guess === undefined
        ? []
        : [{ command: `${app.name} ${guess} --help`, why: 'Show how the command is called.' }]),
      { command: `${app.name} tools`, why: 'List the commands as data.' },
      { command: `${app.name} --help`, why: 'List the commands.' },
    ],
  });
}

/** Compares the whole command, then its first word alone: `lst` in `lst --all`. */
function nearestCommand(whole: string, word: string, commands: readonly string[]): string | undefined {
  const byWhole = nearest(whole, commands);
  if (byWhole !== undefined) return byWhole;
  const lastWords = commands.filter((command) => command.split(' ').at(-1) === word);
  return lastWords[0] ?? commands.find((command) => nearest(word, [command.split(' ')[0]!]) !== undefined);
}
