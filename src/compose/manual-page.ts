import { groupBy } from '../util/group-by.ts';
import { categoryOf, type LoadedRoute, loadAll } from './catalog.ts';
import type { CliApp } from './cli-app.ts';
import { globalRows, helpWords, type Row } from './help-words.ts';
import { calledAs } from './write-command.ts';

/** What a manual page has besides the commands. */
export interface ManualParts {
  /** The paragraph below DESCRIPTION, in lines; by default the summary. */
  description?: readonly string[];
  /** The command that a reader begins with, the last line of DESCRIPTION. */
  beginWith?: string;
  /** The exit codes; by default those of the kit. */
  exits?: readonly Row[];
  files?: readonly Row[];
}

const EXITS: readonly Row[] = [
  ['0', 'Done.'],
  ['1', 'Failed.'],
  ['2', 'Blocked: something must be provided first.'],
];

/** The manual page of a command line (roff), made from its operations. */
export async function manualPage<C>(
  app: Pick<CliApp<C>, 'name' | 'callAs' | 'version' | 'summary' | 'routes'>,
  { description = [app.summary], beginWith, exits = EXITS, files = [] }: ManualParts = {},
): Promise<string> {
  const groups = groupBy(await loadAll(app.routes), ({ op }) => categoryOf(op));
  const { name, version } = app;
  return [
    `.TH ${escaped(name.toUpperCase())} 1 "" "${escaped(`${name} ${version}`)}" "User Commands"`,
    '.SH NAME',
    `${escaped(name)} \\- ${escaped(lowerFirst(app.summary).replace(/\.$/, ''))}`,
    '.SH SYNOPSIS',
    `.B ${escaped(calledAs(app))}`,
    '.I command',
    text('[flags]'),
    '.SH DESCRIPTION',
    ...description.map(text),
    ...(beginWith === undefined ? [] : [`.BR ${quoted(beginWith)} .`]),
    ...[...groups].flatMap(([category, group]) => [
      `.SH ${escaped(category.toUpperCase())} COMMANDS`,
      ...group.flatMap((each) => commandLines(calledAs(app), each)),
    ]),
    '.SH GLOBAL FLAGS',
    ...globalRows(new Set()).flatMap(entry),
    '.SH EXIT STATUS',
    ...exits.flatMap(entry),
    ...(files.length === 0 ? [] : ['.SH FILES', ...files.flatMap(entry)]),
    '',
  ].join('\n');
}

function commandLines(program: string, { command, op }: LoadedRoute<never>): string[] {
  const { usage, about, places, flags, examples } = helpWords(op, `${program} ${command}`);
  return [
    `.SS ${quoted(`${program} ${command}`)}`,
    ...about.flatMap((line) => [text(line), '.br']).slice(0, -1),
    '.PP',
    `.B ${quoted(usage)}`,
    ...[...places, ...flags].flatMap(entry),
    '.PP',
    text(examples.length > 1 ? 'Examples:' : 'Example:'),
    '.PP',
    '.nf',
    '.RS',
    ...examples.map(text),
    '.RE',
    '.fi',
  ];
}

function entry([name, about]: Row): string[] {
  return ['.TP', `.B ${quoted(name)}`, about === '' ? '\\&' : text(about)];
}

/** A line of text: neither its first character nor a backslash is taken for a request. */
function text(line: string): string {
  return escaped(line).replace(/^[.']/, '\\&$&');
}

function quoted(words: string): string {
  return `"${escaped(words).replaceAll('"', '\\(dq')}"`;
}

function escaped(words: string): string {
  return words
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('…', '...')
    .replaceAll('×', '\\(mu')
    .replaceAll('–', '\\(en')
    .replaceAll('’', '\\(cq');
}

function lowerFirst(words: string): string {
  return words.charAt(0).toLowerCase() + words.slice(1);
}
