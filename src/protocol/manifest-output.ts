import * as z from 'zod';
import { LinearPattern } from './linear-pattern.ts';
import type { Mistake } from './mistake.ts';

/** How the text of a program becomes the data of its result. */
export const OUTPUT_FORMATS = [
  'text',
  'json',
  'jsonl',
  'lines',
  'csv',
  'columns',
  'table',
  'pairs',
  'paragraphs',
] as const;

export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

export const VALUE_TYPES = ['string', 'int', 'number', 'bool'] as const;

export type ValueType = (typeof VALUE_TYPES)[number];

const outputSettings = z.strictObject({
  format: z.enum(OUTPUT_FORMATS).describe('The form of the text.'),
  separator: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Between the values: of csv a comma unless set, of columns any space, of pairs and paragraphs a colon.',
    ),
  columns: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('The names of the fields, for columns, and for a csv or table whose own names do not suit.'),
  header: z
    .boolean()
    .optional()
    .describe('Whether the first line of a csv has the names; by default it does unless columns are named.'),
  skip: z.int().nonnegative().default(0).describe('The number of lines before the data.'),
  types: z
    .record(z.string(), z.enum(VALUE_TYPES))
    .default({})
    .describe('The types of fields that are not texts. A value of another type becomes null.'),
  empty: z
    .unknown()
    .optional()
    .describe('The data when the program writes nothing; by default an empty list or object.'),
});

/** What a tool of messages has for the next one of a pipe: the records that it emits and no other data, also when it emits none. */
export const RECORDS = 'records';

export const outputSpec = z.union([z.enum([...OUTPUT_FORMATS, RECORDS]), outputSettings]);

export type OutputSpec = z.output<typeof outputSpec>;

export type OutputSettings = z.output<typeof outputSettings>;

/** A failure that the exit code or a line on stderr identifies. */
export const errorRule = z.strictObject({
  exit: z.int().min(1).max(255).optional().describe('The exit code; without it, any that is a failure.'),
  match: z.string().min(1).optional().describe('A pattern that one of the lines on stderr contains.'),
  code: z
    .string()
    .regex(/^E_[A-Z0-9_]+$/, 'must be an error code such as E_INPUT_NOT_FOUND')
    .describe('The error code: of ACOR, or of error_codes.yaml.'),
  hint: z.string().min(1).optional().describe('The fix.'),
});

export type ErrorRule = z.output<typeof errorRule>;

/** The formats that read a setting. */
const READERS: Readonly<Record<string, readonly OutputFormat[]>> = {
  separator: ['csv', 'columns', 'pairs', 'paragraphs'],
  columns: ['csv', 'columns', 'table'],
  header: ['csv'],
  types: ['csv', 'columns', 'table', 'pairs', 'paragraphs'],
};

/** The problems of `output` and `errors` beyond their format. */
export function* outputMistakes({
  output,
  errors,
  adapter,
}: Readonly<Record<string, unknown>>): Generator<Mistake> {
  const isText = adapter === 'plain';
  if (output === RECORDS && isText) {
    yield {
      path: ['output'],
      rule: 'output-records',
      message: "'output: records' is for a tool that sends messages",
      fix: 'Remove output: each line of a plain program is a record.',
    };
  } else if (output !== undefined && output !== 'text' && output !== RECORDS && !isText) {
    yield {
      path: ['output'],
      rule: 'output-needs-plain',
      message: "'output' goes with 'adapter: plain'",
      fix: 'Add adapter: plain, or remove output.',
    };
  }
  const { success, data } = outputSettings.safeParse(
    typeof output === 'string' ? { format: output } : output,
  );
  if (success) yield* settingMistakes(data);
  if (errors !== undefined && !isText && adapter !== 'text-map') {
    yield {
      path: ['errors'],
      rule: 'errors-need-text',
      message: "'errors' goes with 'adapter: plain' or 'adapter: text-map'",
      fix: 'Add one of them, or remove errors.',
    };
  }
  for (const [index, given] of (Array.isArray(errors) ? errors : []).entries()) {
    const rule = errorRule.safeParse(given);
    if (rule.success) yield* ruleMistakes(rule.data, index);
  }
}

function* settingMistakes(settings: OutputSettings): Generator<Mistake> {
  const { format } = settings;
  if (format === 'columns' && settings.columns === undefined) {
    yield {
      path: ['output'],
      rule: 'output-columns',
      message: "'format: columns' needs the names in 'columns'",
      fix: 'Name the values of a line: columns: [hash, author, subject].',
    };
  }
  for (const [index, name] of (settings.columns ?? []).entries()) {
    if (settings.columns!.indexOf(name) === index) continue;
    yield {
      path: ['output', 'columns', index],
      rule: 'output-columns',
      message: `two columns have the name '${name}'`,
      fix: 'Give each column a name of its own.',
    };
  }
  const { columns, types } = settings;
  for (const name of Object.keys(types).filter((each) => columns?.includes(each) === false)) {
    yield {
      path: ['output', 'types', name],
      rule: 'output-columns',
      message: `'types' names the column '${name}', which is not among 'columns'`,
      fix: `Write one of ${columns!.join(', ')}, or remove it.`,
    };
  }
  for (const [key, formats] of Object.entries(READERS)) {
    const value = settings[key as keyof OutputSettings];
    if (value === undefined || formats.includes(format)) continue;
    if (key === 'types' && Object.keys(settings.types).length === 0) continue;
    yield {
      path: ['output', key],
      rule: 'output-setting',
      message: `'format: ${format}' does not read '${key}'`,
      fix: `Remove it; it is for ${formats.join(', ')}.`,
    };
  }
}

function* ruleMistakes({ exit, match }: ErrorRule, index: number): Generator<Mistake> {
  if (exit === undefined && match === undefined) {
    yield {
      path: ['errors', index],
      rule: 'error-rule',
      message: "a rule of errors has 'exit', 'match' or both",
      fix: 'Add exit: the exit code, or match: a pattern of a line on stderr.',
    };
  }
  if (match === undefined) return;
  try {
    new LinearPattern(match);
  } catch (error) {
    yield {
      path: ['errors', index, 'match'],
      rule: 'pattern',
      message: `'${match}' is not a valid pattern: ${(error as Error).message}`,
      fix: 'Fix the pattern; backreferences and look-around are not supported.',
    };
  }
}
