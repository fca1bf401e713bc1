import { GLOBAL_FLAGS } from './globals.ts';
import type { Deprecation, OperationDescription } from './operation.ts';
import { type Parameter, parametersOf } from './parameters.ts';

/** A name and its description. */
export type Row = readonly [left: string, right: string];

/** The content of an operation's help before layout: for a terminal, a manual page, or an agent. */
export interface HelpWords {
  examples: readonly string[];
  /** Its description, its effect, and the events that it streams. */
  about: readonly string[];
  usage: string;
  places: readonly Row[];
  flags: readonly Row[];
  globals: readonly Row[];
}

/** The help content of an operation; `invocation` is the program and its command. */
export function helpWords(op: OperationDescription, invocation: string): HelpWords {
  const parameters = parametersOf(op);
  const places = parameters.filter((each) => each.isPositional);
  const flags = parameters.filter((each) => !each.isPositional);
  return {
    examples: [op.example, ...(op.moreExamples ?? [])],
    about: [
      ...(op.deprecated === undefined ? [] : [deprecationOf(op.deprecated)]),
      op.summary,
      character(op),
      ...(op.streams === undefined ? [] : [`Streams: ${op.streams}`]),
    ],
    usage: usageLine(op, invocation, places, flags),
    places: places.map((each) => [placeName(each, op), describe(each)]),
    flags: flags.map((each) => [flagName(each), describe(each)]),
    globals: globalRows(new Set(flags.map((each) => each.flag))),
  };
}

/** The global flags, except those whose name the operation uses itself. */
export function globalRows(shadowed: ReadonlySet<string>): Row[] {
  return GLOBAL_FLAGS.filter((flag) => !shadowed.has(flag.name)).map((flag) => {
    const short = flag.short === undefined ? '' : `, -${flag.short}`;
    const value = flag.type === 'boolean' ? '' : ` <${flag.type}>`;
    return [`--${flag.name}${short}${value}`, flag.description];
  });
}

/** `Deprecated since 2.0. Use: box items list`. */
export function deprecationOf({ since, use }: Deprecation): string {
  return `Deprecated${since === undefined ? '' : ` since ${since}`}. Use: ${use}`;
}

function character(op: OperationDescription): string {
  const limits = op.rateLimit === null ? [] : [`rate limit ${op.rateLimit}`];
  const page =
    op.pageSize === undefined ? [] : [`answers with ${op.pageSize} at once unless --limit is given`];
  return [`Effect: ${op.effect}`, op.idempotent ? 'idempotent' : 'not idempotent', ...limits, ...page].join(
    ', ',
  );
}

function usageLine(
  op: OperationDescription,
  invocation: string,
  places: readonly Parameter[],
  flags: readonly Parameter[],
): string {
  const required = flags
    .filter((each) => each.isRequired)
    .map((each) => flagName({ ...each, short: undefined }));
  const hasOptional = flags.length > required.length ? ['[flags]'] : [];
  return [invocation, ...required, ...hasOptional, ...places.map((each) => placeName(each, op))].join(' ');
}

function placeName(parameter: Parameter, op: OperationDescription): string {
  const repeated = parameter.isArray || parameter.key === op.passthrough ? '...' : '';
  return parameter.isRequired ? `<${parameter.flag}>${repeated}` : `[${parameter.flag}${repeated}]`;
}

function flagName(parameter: Parameter): string {
  const short = parameter.short === undefined ? '' : `, -${parameter.short}`;
  if (parameter.kind !== 'boolean')
    return `--${parameter.flag}${short} <${parameter.unit === undefined ? parameter.kind : 'duration'}>`;
  const isOnByDefault =
    parameter.default === true || (parameter.default === undefined && !parameter.isRequired);
  return `${isOnByDefault ? '--[no-]' : '--'}${parameter.flag}${short}`;
}

function describe(parameter: Parameter): string {
  const notes: string[] = [];
  if (parameter.enum !== undefined) notes.push(`one of ${parameter.enum.join(', ')}`);
  if (parameter.isArray && !parameter.isPositional) notes.push('may be repeated');
  if (parameter.isRequired) notes.push('required');
  if (parameter.env !== undefined) notes.push(`or the variable ${parameter.env}`);
  if (parameter.config !== undefined) notes.push(`or ${parameter.config} of the configuration`);
  if (hasTellingDefault(parameter)) notes.push(`default ${defaultText(parameter.default)}`);
  const deprecated = parameter.replacement === undefined ? '' : `Deprecated, use ${parameter.replacement}.`;
  const note = notes.length === 0 ? '' : `(${notes.join('; ')})`;
  return [deprecated, parameter.description, note].filter(Boolean).join(' ');
}

function hasTellingDefault({ default: value }: Parameter): boolean {
  if (value === undefined || value === false) return false;
  return !(Array.isArray(value) && value.length === 0);
}

/** A default value in help. */
export function defaultText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
