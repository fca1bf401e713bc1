import type { OutputSettings, OutputSpec, ValueType } from '../../protocol/manifest-output.ts';
import { settingsOf } from '../../protocol/output-settings.ts';
import { isInexact } from '../../util/exact-json.ts';
import { unreachable } from '../../util/unreachable.ts';
import { inexactWarning } from './json-object.ts';

/** The data in a program's text, or the first place where it has another form than the manifest says. */
export type ParsedOutput = { data: unknown; warnings: string[] } | { problem: string };

type Row = Record<string, unknown>;

/** A hostile header with many names must not multiply with many short lines. */
const MAX_VALUES = 5_000_000;

/** A line that has not the declared form. */
class WrongForm extends Error {}

/** Reads the lines of a program as the manifest declares them. The format is not `text`. */
export function parseOutput(output: OutputSpec, lines: readonly string[]): ParsedOutput {
  const settings = settingsOf(output);
  const read = withoutMark(lines).slice(settings.skip);
  if (settings.empty !== undefined && read.every((line) => line.trim() === ''))
    return { data: settings.empty, warnings: [] };
  const types = new TypedValues(settings.types);
  try {
    return { data: dataOf(settings, read, types), warnings: types.warnings };
  } catch (error) {
    if (!(error instanceof WrongForm)) throw error;
    return { problem: error.message };
  }
}

/** Programs of Windows begin a text with a byte order mark, which is no part of it. */
function withoutMark(lines: readonly string[]): string[] {
  return lines.map((line, at) => (at === 0 ? line.replace(/^\uFEFF/, '') : line));
}

function dataOf(settings: OutputSettings, lines: readonly string[], types: TypedValues): unknown {
  const { format, skip } = settings;
  const numbered = numberedLines(lines, skip);
  switch (format) {
    case 'text':
      throw new Error('Internal: text is not parsed');
    case 'json':
      return parsedJson(lines.join('\n'), '', types);
    case 'jsonl':
      return listOf(withText(numbered), ({ text, number }) => parsedJson(text, `line ${number}: `, types));
    case 'lines':
      return listOf(numbered, ({ text }) => text);
    case 'csv':
      return csvRows(settings, lines, types).map((row) => types.of(row));
    case 'columns':
      return listOf(withText(numbered), ({ text }) =>
        types.of(named(settings.columns!, splitLine(settings, text))),
      );
    case 'table':
      return tableRows(
        settings,
        listOf(withText(numbered), ({ text }) => text),
        types,
      ).map((row) => types.of(row));
    case 'pairs':
      return types.of(pairsOf(settings, withText(numbered)));
    case 'paragraphs':
      return listOf(paragraphs(numbered), (part) => types.of(pairsOf(settings, part)));
    default:
      return unreachable(format);
  }
}

/** One at a time: an object for each of many short lines takes many times the memory of the output. */
function* numberedLines(lines: readonly string[], skip: number): Iterable<NumberedLine> {
  for (const [at, line] of lines.entries()) yield { text: line.replace(/\r$/, ''), number: at + 1 + skip };
}

function* withText(lines: Iterable<NumberedLine>): Iterable<NumberedLine> {
  for (const line of lines) if (line.text.trim() !== '') yield line;
}

function listOf<From, To>(values: Iterable<From>, convert: (value: From) => To): To[] {
  const list: To[] = [];
  for (const value of values) list.push(convert(value));
  return list;
}

function parsedJson(text: string, where: string, types: TypedValues): unknown {
  try {
    const value: unknown = JSON.parse(text);
    types.noteInexact(text);
    return value;
  } catch (error) {
    throw new WrongForm(`${where}it is not valid JSON: ${(error as Error).message}`);
  }
}

/** RFC 4180: a quoted value may hold separators, line feeds and doubled quotes. */
function csvRows(settings: OutputSettings, lines: readonly string[], types: TypedValues): Row[] {
  const { columns, separator = ',', header = columns === undefined } = settings;
  const records = csvRecords(lines, separator, settings.skip);
  const first = header ? records.shift() : undefined;
  const names = columns ?? first?.values ?? [];
  types.noteTwice(names, 'columns and header: true');
  refuseTooMany(names.length, records.length);
  return records.map(({ values, number }) => {
    if (values.length > names.length)
      throw new WrongForm(`line ${number}: ${values.length} values for ${names.length} columns`);
    return named(names, values);
  });
}

function csvRecords(lines: readonly string[], separator: string, skip: number) {
  const text = lines.join('\n').replaceAll('\r\n', '\n').replace(/\r$/, '');
  const records: { values: string[]; number: number }[] = [];
  let number = skip + 1;
  let at = 0;
  while (at < text.length) {
    const record = { values: [] as string[], number };
    for (let isMore = true; isMore; ) {
      let value = '';
      if (text[at] === '"') {
        const start = number;
        let from = ++at;
        for (; ; at++) {
          if (at >= text.length) throw new WrongForm(`line ${start}: a quote is not closed`);
          if (text[at] === '\n') number++;
          if (text[at] !== '"') continue;
          value += text.slice(from, at);
          if (text[++at] !== '"') break;
          from = at;
        }
      }
      const from = at;
      while (at < text.length && text[at] !== '\n' && !text.startsWith(separator, at)) at++;
      value += text.slice(from, at);
      record.values.push(value);
      isMore = text.startsWith(separator, at) && text[at] !== '\n';
      if (isMore) at += separator.length;
    }
    at++;
    number++;
    if (record.values.length > 1 || record.values[0] !== '') records.push(record);
  }
  return records;
}

/** The last column takes the rest of the line. */
function splitLine({ columns, separator }: OutputSettings, line: string): string[] {
  const values: string[] = [];
  let rest = separator === undefined ? line.trim() : line;
  while (values.length < columns!.length - 1) {
    const found = separator === undefined ? rest.search(/\s/) : rest.indexOf(separator);
    if (found < 0) break;
    values.push(rest.slice(0, found));
    rest = separator === undefined ? rest.slice(found).trimStart() : rest.slice(found + separator.length);
  }
  return [...values, rest];
}

function refuseTooMany(columns: number, rows: number): void {
  if (columns * rows > MAX_VALUES)
    throw new WrongForm(`${rows} lines with ${columns} columns are more than ${MAX_VALUES} values`);
}

function named(names: readonly string[], values: readonly string[]): Row {
  return Object.fromEntries(names.map((name, at) => [name, values[at] ?? null]));
}

/** A table under a header: a column is where the header or a line has characters, between places that are blank in all. */
function tableRows({ columns }: OutputSettings, lines: readonly string[], types: TypedValues): Row[] {
  const [header = '', ...rows] = lines.map((line) => line.replaceAll('\t', '        '));
  const spans = spansOf([header, ...rows]);
  refuseTooMany(spans.length, rows.length);
  const cells = (line: string) =>
    spans.map(([start], at) => line.slice(start, spans[at + 1]?.[0] ?? line.length).trim());
  const merged = mergedSpans(spans, cells(header), rows.map(cells));
  const cut = (line: string) =>
    merged.map(([start], at) => line.slice(start, merged[at + 1]?.[0] ?? line.length).trim());
  const names = columns ?? cut(header);
  types.noteTwice(names, 'columns');
  if (rows.length > 0 && names.length !== merged.length)
    throw new WrongForm(`the table has ${merged.length} columns, and ${names.length} are named`);
  return rows.map((row) => named(names, cut(row)));
}

type Span = readonly [start: number, end: number];

function spansOf(lines: readonly string[]): Span[] {
  const width = lines.reduce((longest, { length }) => Math.max(longest, length), 0);
  const isUsed = new Array<boolean>(width).fill(false);
  for (const line of lines) for (let at = 0; at < line.length; at++) if (line[at] !== ' ') isUsed[at] = true;
  const spans: Span[] = [];
  for (let at = 0; at < width; at++) {
    if (!isUsed[at]) continue;
    const start = at;
    while (at < width && isUsed[at]) at++;
    spans.push([start, at]);
  }
  return spans;
}

/** `Mounted on` is one name, and a value with spaces is one value: neither begins a column of its own. */
function mergedSpans(
  spans: readonly Span[],
  header: readonly string[],
  rows: readonly (readonly string[])[],
): Span[] {
  const merged: Span[] = [];
  for (const [at, span] of spans.entries()) {
    const before = merged.at(-1);
    const isNear = before !== undefined && span[0] - before[1] === 1;
    const isWordOfName = isNear && rows.every((row) => row[at] === '');
    if (before !== undefined && (header[at] === '' || isWordOfName))
      merged[merged.length - 1] = [before[0], span[1]];
    else merged.push(span);
  }
  return merged;
}

interface NumberedLine {
  text: string;
  number: number;
}

/** `Key: value`. An indented line continues the value before it; a key that is there again adds a line to its value. */
function pairsOf({ separator = ':' }: OutputSettings, lines: Iterable<NumberedLine>): Row {
  const pairs = new Map<string, string>();
  let last: string | undefined;
  for (const { text, number } of lines) {
    const at = text.indexOf(separator);
    const isFurther = /^\s/.test(text) && last !== undefined;
    if (!isFurther && at <= 0)
      throw new WrongForm(
        `line ${number}: no '${separator}' between a name and a value: ${text.slice(0, 80)}`,
      );
    const name: string = isFurther ? last! : text.slice(0, at).trim();
    const value = isFurther ? text.trim() : text.slice(at + separator.length).trim();
    const earlier = pairs.get(name);
    pairs.set(name, earlier === undefined ? value : `${earlier}\n${value}`);
    last = name;
  }
  return Object.fromEntries(pairs);
}

function* paragraphs(lines: Iterable<NumberedLine>): Iterable<NumberedLine[]> {
  let part: NumberedLine[] = [];
  for (const line of lines) {
    if (line.text.trim() !== '') part.push(line);
    else if (part.length > 0) {
      yield part;
      part = [];
    }
  }
  if (part.length > 0) yield part;
}

const TRUE = ['true', 'yes', 'on', '1'];
const FALSE = ['false', 'no', 'off', '0'];

/** Gives values their declared types, and reports what the data do not hold as it was written. */
class TypedValues {
  readonly warnings: string[] = [];
  readonly #types: [string, ValueType][];
  readonly #reported = new Set<string>();

  constructor(types: Readonly<Record<string, ValueType>>) {
    this.#types = Object.entries(types).filter(([, type]) => type !== 'string');
  }

  of(row: Row): Row {
    for (const [name, type] of this.#types) {
      const text = row[name];
      if (typeof text !== 'string') continue;
      const value = typedValue(type, text.trim());
      if (value === null && text.trim() !== '') this.#report(name, type, text);
      row[name] = value;
    }
    return row;
  }

  /** Reports the first number of a JSON text that became another one. */
  noteInexact(json: string): void {
    const warning = this.#reported.has('') ? undefined : inexactWarning(json);
    if (warning === undefined) return;
    this.#reported.add('');
    this.warnings.push(warning);
  }

  /** Reports a name of which a record holds only the last value. */
  noteTwice(names: readonly string[], fix: string): void {
    const seen = new Set<string>();
    const twice = names.find((name) => seen.has(name) || !seen.add(name));
    if (twice === undefined) return;
    this.warnings.push(
      `two columns have the name '${twice.slice(0, 80)}', and the data hold only the last of them: give each column a name, with ${fix} under output in the manifest`,
    );
  }

  #report(name: string, type: ValueType, text: string): void {
    if (this.#reported.has(name)) return;
    this.#reported.add(name);
    this.warnings.push(`'${name}' is not of type ${type}, and is null: '${text.slice(0, 80)}'`);
  }
}

function typedValue(type: ValueType, text: string): unknown {
  if (type === 'bool') {
    if (TRUE.includes(text.toLowerCase())) return true;
    return FALSE.includes(text.toLowerCase()) ? false : null;
  }
  const isNumber = type === 'int' ? /^[+-]?\d{1,15}$/ : /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
  return isNumber.test(text) && !isInexact(text) ? Number(text) : null;
}
