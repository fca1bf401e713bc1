import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type * as z from 'zod';
import type { CommandLine } from './flags.ts';
import type { OperationDescription } from './operation.ts';
import { label, type Parameter } from './parameters.ts';
import { readValue } from './read-value.ts';
import { nearest } from './suggest.ts';
import { didYouMean, type UsageProblem, usageError } from './usage-error.ts';

/** Where an input comes from beside the flags. */
export interface InputSources {
  cwd: string;
  readStdin(): Promise<string>;
  /** The program and its command, for hints. */
  invocation: string;
}

/** Makes the operation's input out of a command line, or throws one E_USAGE with every problem. */
export async function readInput<I extends z.ZodObject>(
  op: OperationDescription<I>,
  parameters: readonly Parameter[],
  line: CommandLine,
  sources: InputSources,
): Promise<z.output<I>> {
  const problems = [...line.problems];
  const values: Record<string, unknown> = await readInputJson(line, parameters, sources, problems);
  for (const each of parameters) {
    const texts = line.given.get(each.key);
    if (texts !== undefined) values[each.key] = readTexts(each, texts, problems);
  }
  if (op.passthrough !== undefined && line.passthrough !== undefined)
    values[op.passthrough] = line.passthrough;
  const checked = await op.input.safeParseAsync(values);
  const blamed = new Set(problems.map((problem) => problem.parameter));
  for (const issue of checked.error?.issues ?? []) {
    const problem = describeIssue(issue, parameters, values);
    if (!blamed.has(problem.parameter)) problems.push(problem);
  }
  if (problems.length > 0 || !checked.success) throw usageError(problems, sources.invocation);
  return checked.data;
}

/** What the schema says of one value, in the words of the command line. */
export function describeIssue(
  issue: z.core.$ZodIssue,
  parameters: readonly Parameter[],
  values: Readonly<Record<string, unknown>>,
): UsageProblem {
  const [key, ...inner] = issue.path;
  if (key === undefined) return { parameter: 'input', message: issue.message };
  const parameter = parameters.find((each) => each.key === key);
  const where = parameter === undefined ? '--input-json' : label(parameter);
  if (parameter !== undefined && inner.length === 0 && values[parameter.key] === undefined) {
    return { parameter: where, message: `${where} is required` };
  }
  if (issue.code === 'invalid_value') {
    const choices = issue.values.map(String);
    const given = String(inner.reduce<unknown>(memberOf, values[String(key)]));
    const message = `${where} must be one of ${choices.join(', ')}, not ${JSON.stringify(given)}`;
    return { parameter: where, message, ...didYouMean(nearest(given, choices)) };
  }
  const place = inner.length === 0 ? where : `${where} at ${inner.map(String).join('.')}`;
  return { parameter: where, message: `${place}: ${issue.message}` };
}

function memberOf(value: unknown, key: PropertyKey): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

function readTexts(parameter: Parameter, texts: (string | boolean)[], problems: UsageProblem[]): unknown {
  const read = texts.map((text) =>
    typeof text === 'boolean' ? { value: text } : readValue(parameter, text),
  );
  const values = read.map((each) => {
    if ('problem' in each) problems.push(each.problem);
    return 'value' in each ? each.value : undefined;
  });
  return parameter.isArray ? values : values[0];
}

async function readInputJson(
  line: CommandLine,
  parameters: readonly Parameter[],
  sources: InputSources,
  problems: UsageProblem[],
): Promise<Record<string, unknown>> {
  if (line.inputJson === undefined) return {};
  const wrong = (message: string, fix: { fix?: string } = {}) => {
    problems.push({ parameter: '--input-json', message: `--input-json: ${message}`, ...fix });
    return {};
  };
  let value: unknown;
  try {
    value = JSON.parse(await inputJsonText(line.inputJson, sources));
  } catch (error) {
    return wrong(error instanceof Error ? error.message : String(error));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return wrong('must be a JSON object');
  const keys = parameters.map((each) => each.key);
  for (const key of Object.keys(value)) {
    if (!keys.includes(key)) wrong(`unknown key ${JSON.stringify(key)}`, didYouMean(nearest(key, keys)));
  }
  return { ...value };
}

function inputJsonText(given: string, sources: InputSources): Promise<string> | string {
  if (given === '-') return sources.readStdin();
  if (given.startsWith('@')) return readFile(resolve(sources.cwd, given.slice(1)), 'utf8');
  return given;
}
