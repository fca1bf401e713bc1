import { wrapAnsi } from 'fast-wrap-ansi';
import { groupBy } from '../util/group-by.ts';
import { categoryOf, loadAll } from './catalog.ts';
import type { CliApp, StartGroup } from './cli-app.ts';
import { displayWidth, padToWidth } from './display-width.ts';
import type { CalleeInput, ForwardedCommand } from './forwarded-command.ts';
import { defaultText, globalRows, helpWords, type Row } from './help-words.ts';
import type { OperationDescription } from './operation.ts';
import type { Screen } from './screen.ts';
import { styled } from './style.ts';
import { safeLine } from './terminal-text.ts';
import { calledAs } from './write-command.ts';

// When less than this is left beside a column of names, the text goes below the name.
const LEAST_TEXT_WIDTH = 30;
const INDENT = 2;
/** The maximum number of shown elements of an untrusted list. */
const MAX_EXAMPLES = 5;
const MAX_TEXT = 300;

/** Help of one command: its example first, then its description, its usage and its flags. */
export function commandHelp(op: OperationDescription, invocation: string, screen: Screen): string {
  const { examples, about, usage, places, flags, globals } = helpWords(op, invocation);
  return sections(screen, [
    [examples.length > 1 ? 'Examples' : 'Example', examples],
    ['About', prose(about, screen)],
    ['Usage', [usage]],
    ['Arguments', columns(places, screen)],
    ['Flags', columns(flags, screen)],
    ['Global flags', columns(globals, screen)],
  ]);
}

/** Help of a program that a command passes arguments to: its declarations, and how to get its own help. */
export function calleeHelp(callee: ForwardedCommand, invocation: string, screen: Screen): string {
  const inputs = callee.inputs ?? [];
  const places = inputs.filter((each) => each.isPositional);
  const flags = inputs.filter((each) => !each.isPositional);
  const examples = callee.examples.slice(0, MAX_EXAMPLES).map(bounded);
  const takesAnything = [
    'It declares no inputs; ACOR passes the arguments unchanged.',
    `Its own help, if it has any: ${invocation} ${safeLine(callee.name)} -- --help`,
  ];
  return sections(screen, [
    [examples.length > 1 ? 'Examples' : 'Example', examples],
    ['About', prose(callee.summary === '' ? [] : [bounded(callee.summary)], screen)],
    ['Usage', [bounded(callee.usage)]],
    ['Arguments', columns(places.map(calleeRow), screen)],
    ['Flags', columns(flags.map(calleeRow), screen)],
    ['Inputs', callee.inputs === null ? takesAnything : []],
    ['More', [`${invocation} --help`]],
  ]);
}

/** The first page of help: what people do first. */
export function startHelp<C>(app: CliApp<C>, start: readonly StartGroup[], screen: Screen): string {
  const width = Math.max(...start.flatMap(({ lines }) => lines.map(([command]) => command.length)));
  const groups = start.map(
    ({ title, lines }): Section => [
      title,
      columns(
        lines.map(([command, purpose]): Row => [padToWidth(command, width), purpose]),
        screen,
      ),
    ],
  );
  const about = prose([`${app.name} ${app.version}: ${app.summary}`], screen);
  return `${about.join('\n')}\n\n${sections(screen, groups)}`;
}

/** Help of the whole program, or of the commands that begin with some words, grouped by category. */
export async function overviewHelp<C>(
  app: CliApp<C>,
  words: readonly string[],
  screen: Screen,
): Promise<string> {
  const prefix = words.length === 0 ? '' : `${words.join(' ')} `;
  const loaded = (await loadAll(app.routes)).filter(({ command }) => command.startsWith(prefix));
  const width = Math.max(0, ...loaded.map(({ command }) => command.length));
  const groups = groupBy(loaded, ({ op }) => categoryOf(op));
  // On the page of everything, what most people do first.
  const first = (prefix === '' ? app.start?.[0]?.lines[0]?.[0] : undefined) ?? loaded[0]?.op.example;
  return sections(screen, [
    ['Example', first === undefined ? [] : [first]],
    ['About', prefix === '' ? prose([`${app.name} ${app.version}: ${app.summary}`], screen) : []],
    ['Usage', [`${calledAs(app)} ${prefix}<command> [flags]`]],
    ...[...groups].map(
      ([category, group]): Section => [
        `${category} commands`,
        columns(
          group.map(({ command, op }): Row => [padToWidth(command, width), op.summary]),
          screen,
        ),
      ],
    ),
    ['Global flags', columns(globalRows(new Set()), screen)],
    ['More', [`${calledAs(app)} <command> --help`]],
  ]);
}

type Section = readonly [title: string, lines: readonly string[]];

function sections(screen: Screen, all: readonly Section[]): string {
  const shown = all.filter(([, lines]) => lines.length > 0);
  const texts = shown.map(([title, lines]) => [
    styled(title, 'bold', screen),
    ...lines.map((line) => `  ${line}`),
  ]);
  return texts.map((lines) => `${lines.join('\n')}\n`).join('\n');
}

/** Names and texts in two columns; on a narrow screen each text goes below its name. */
function columns(rows: readonly Row[], screen: Screen): string[] {
  const width = Math.max(0, ...rows.map(([left]) => displayWidth(left)));
  const room = screen.width - INDENT - width - 2;
  if (room < LEAST_TEXT_WIDTH) {
    return rows.flatMap(([left, right]) => [
      left.trimEnd(),
      ...(right === '' ? [] : wrap(right, screen.width - 2 * INDENT - 2).map((line) => `    ${line}`)),
    ]);
  }
  return rows.flatMap(([left, right]) =>
    wrap(right, room).map((line, index) =>
      `${padToWidth(index === 0 ? left : '', width)}  ${line}`.trimEnd(),
    ),
  );
}

/** Wrapped at spaces; a longer word has a line of its own, so that it can be copied. */
function wrap(text: string, width: number): string[] {
  return wrapAnsi(text, width).split('\n');
}

function prose(lines: readonly string[], screen: Screen): string[] {
  return lines.flatMap((line) => wrap(line, screen.width - INDENT));
}

/** An untrusted text, on one line of limited length. */
function bounded(text: string): string {
  const safe = safeLine(text);
  return safe.length > MAX_TEXT ? `${safe.slice(0, MAX_TEXT)}...` : safe;
}

function calleeRow(input: CalleeInput): Row {
  const value = input.isPositional || input.isSwitch ? '' : ` <${input.type}>`;
  const notes = [
    ...(input.choices.length > 0 ? [`one of ${input.choices.join(', ')}`] : []),
    ...(input.isRepeatable ? ['may be repeated'] : []),
    ...(input.isRequired ? ['required'] : []),
    ...(input.default === undefined ? [] : [`default ${defaultText(input.default)}`]),
  ];
  const note = notes.length === 0 ? '' : `(${notes.join('; ')})`;
  const short = input.short === undefined ? '' : `${input.short}, `;
  const left = input.isPositional ? `<${input.label}>` : `${short}${input.label}${value}`;
  return [bounded(left), [bounded(input.description), bounded(note)].filter(Boolean).join(' ')];
}
