import type { CliApp } from './app.ts';
import { categoryOf, loadAll } from './catalog.ts';
import { padToWidth } from './display-width.ts';
import { GLOBAL_FLAGS } from './globals.ts';
import type { OperationDescription } from './operation.ts';
import { type Parameter, parametersOf } from './parameters.ts';
import type { Screen } from './screen.ts';
import { styled } from './style.ts';

type Row = readonly [left: string, right: string];

/** Help of one command: its example first, then what it does, its usage and its flags. */
export function commandHelp(op: OperationDescription, invocation: string, screen: Screen): string {
  const parameters = parametersOf(op);
  const places = parameters.filter((each) => each.isPositional);
  const flags = parameters.filter((each) => !each.isPositional);
  const ownNames = new Set(flags.map((each) => each.flag));
  return sections(screen, [
    [op.moreExamples?.length ? 'Examples' : 'Example', [op.example, ...(op.moreExamples ?? [])]],
    ['About', [op.summary, character(op), ...(op.streams === undefined ? [] : [`Streams: ${op.streams}`])]],
    ['Usage', [usageLine(op, invocation, places, flags)]],
    ['Arguments', columns(places.map((each) => [placeName(each, op), describe(each)]))],
    ['Flags', columns(flags.map((each) => [flagName(each), describe(each)]))],
    ['Global flags', globalRows(ownNames)],
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
    ['About', prefix === '' ? [`${app.name} ${app.version}: ${app.summary}`] : []],
    ['Usage', [`${app.name} ${prefix}<command> [flags]`]],
    ...[...groups].map(
      ([category, group]): Section => [
        category,
        group.map(({ command, op }) => `${padToWidth(command, width)}  ${op.summary}`),
      ],
    ),
    ['Global flags', globalRows(new Set())],
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

function columns(rows: readonly Row[]): string[] {
  const width = Math.max(0, ...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `${left.padEnd(width)}  ${right}`.trimEnd());
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

function globalRows(shadowed: ReadonlySet<string>): string[] {
  const shown = GLOBAL_FLAGS.filter((flag) => !shadowed.has(flag.name));
  return columns(
    shown.map((flag): Row => {
      const short = flag.short === undefined ? '' : `, -${flag.short}`;
      const value = flag.type === 'boolean' ? '' : ` <${flag.type}>`;
      return [`--${flag.name}${short}${value}`, flag.description];
    }),
  );
}
