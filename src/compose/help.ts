import type { CliApp } from './app.ts';
import type { Callee, CalleeInput } from './callee.ts';
import { categoryOf, loadAll } from './catalog.ts';
import { displayWidth, padToWidth } from './display-width.ts';
import { GLOBAL_FLAGS } from './globals.ts';
import type { OperationDescription } from './operation.ts';
import { type Parameter, parametersOf } from './parameters.ts';
import type { Screen } from './screen.ts';
import { styled } from './style.ts';
import { safeLine } from './terminal-text.ts';
import { wrap } from './wrap.ts';

// What is left beside a column of names below this is too little to read: the text goes below the name then.
const LEAST_TEXT_WIDTH = 30;
const INDENT = 2;
/** How much of a stranger's list is shown. */
const MAX_EXAMPLES = 5;
const MAX_TEXT = 300;

type Row = readonly [left: string, right: string];

/** Help of one command: its example first, then what it does, its usage and its flags. */
export function commandHelp(op: OperationDescription, invocation: string, screen: Screen): string {
  const parameters = parametersOf(op);
  const places = parameters.filter((each) => each.isPositional);
  const flags = parameters.filter((each) => !each.isPositional);
  const ownNames = new Set(flags.map((each) => each.flag));
  return sections(screen, [
    [op.moreExamples?.length ? 'Examples' : 'Example', [op.example, ...(op.moreExamples ?? [])]],
    [
      'About',
      prose(
        [op.summary, character(op), ...(op.streams === undefined ? [] : [`Streams: ${op.streams}`])],
        screen,
      ),
    ],
    ['Usage', [usageLine(op, invocation, places, flags)]],
    [
      'Arguments',
      columns(
        places.map((each) => [placeName(each, op), describe(each)]),
        screen,
      ),
    ],
    [
      'Flags',
      columns(
        flags.map((each) => [flagName(each), describe(each)]),
        screen,
      ),
    ],
    ['Global flags', columns(globalRows(ownNames), screen)],
  ]);
}

/** Help of a program that a command passes arguments on to: what it declares, and how its own help is reached. */
export function calleeHelp(callee: Callee, invocation: string, screen: Screen): string {
  const inputs = callee.inputs ?? [];
  const places = inputs.filter((each) => each.isPositional);
  const flags = inputs.filter((each) => !each.isPositional);
  const examples = callee.examples.slice(0, MAX_EXAMPLES).map(bounded);
  const takesAnything = [
    'It declares no inputs; arguments pass as they are.',
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

/** Help of the whole program, or of the commands that begin with some words, grouped by category. */
export async function overviewHelp<C>(
  app: CliApp<C>,
  words: readonly string[],
  screen: Screen,
): Promise<string> {
  const prefix = words.length === 0 ? '' : `${words.join(' ')} `;
  const loaded = (await loadAll(app.routes)).filter(({ command }) => command.startsWith(prefix));
  const width = Math.max(0, ...loaded.map(({ command }) => command.length));
  const groups = Map.groupBy(loaded, ({ op }) => categoryOf(op));
  const first = loaded.find(({ command }) => command === 'tools') ?? loaded[0];
  return sections(screen, [
    ['Example', first === undefined ? [] : [first.op.example]],
    ['About', prefix === '' ? prose([`${app.name} ${app.version}: ${app.summary}`], screen) : []],
    ['Usage', [`${app.name} ${prefix}<command> [flags]`]],
    ...[...groups].map(
      ([category, group]): Section => [
        category,
        columns(
          group.map(({ command, op }): Row => [padToWidth(command, width), op.summary]),
          screen,
        ),
      ],
    ),
    ['Global flags', columns(globalRows(new Set()), screen)],
    ['More', [`${app.name} <command> --help`]],
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

/** Names and texts in two columns; on a narrow screen each text below its name. */
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

function prose(lines: readonly string[], screen: Screen): string[] {
  return lines.flatMap((line) => wrap(line, screen.width - INDENT));
}

/** A stranger's text, on one line that is not too long. */
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
  const left = input.isPositional ? `<${input.label}>` : `${input.label}${value}`;
  return [bounded(left), [bounded(input.description), bounded(note)].filter(Boolean).join(' ')];
}

function character(op: OperationDescription): string {
  const limits = op.rateLimit === null ? [] : [`rate limit ${op.rateLimit}`];
  return [`Effect: ${op.effect}`, op.idempotent ? 'idempotent' : 'not idempotent', ...limits].join(', ');
}

function usageLine(
  op: OperationDescription,
  invocation: string,
  places: readonly Parameter[],
  flags: readonly Parameter[],
): string {
  const required = flags.filter((each) => each.isRequired).map(flagName);
  const hasOptional = flags.length > required.length ? ['[flags]'] : [];
  return [invocation, ...required, ...hasOptional, ...places.map((each) => placeName(each, op))].join(' ');
}

function placeName(parameter: Parameter, op: OperationDescription): string {
  const repeated = parameter.isArray || parameter.key === op.passthrough ? '...' : '';
  return parameter.isRequired ? `<${parameter.flag}>${repeated}` : `[${parameter.flag}${repeated}]`;
}

function flagName(parameter: Parameter): string {
  if (parameter.kind !== 'boolean') return `--${parameter.flag} <${parameter.kind}>`;
  return parameter.default === true ? `--[no-]${parameter.flag}` : `--${parameter.flag}`;
}

function describe(parameter: Parameter): string {
  const notes: string[] = [];
  if (parameter.enum !== undefined) notes.push(`one of ${parameter.enum.join(', ')}`);
  if (parameter.isArray && !parameter.isPositional) notes.push('may be repeated');
  if (parameter.isRequired) notes.push('required');
  if (hasTellingDefault(parameter)) notes.push(`default ${defaultText(parameter.default)}`);
  return [parameter.description, notes.length === 0 ? '' : `(${notes.join('; ')})`].filter(Boolean).join(' ');
}

function hasTellingDefault({ default: value }: Parameter): boolean {
  if (value === undefined || value === false) return false;
  return !(Array.isArray(value) && value.length === 0);
}

function defaultText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function globalRows(shadowed: ReadonlySet<string>): Row[] {
  return GLOBAL_FLAGS.filter((flag) => !shadowed.has(flag.name)).map((flag) => {
    const short = flag.short === undefined ? '' : `, -${flag.short}`;
    const value = flag.type === 'boolean' ? '' : ` <${flag.type}>`;
    return [`--${flag.name}${short}${value}`, flag.description];
  });
}
