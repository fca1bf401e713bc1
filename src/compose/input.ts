import { resolve } from 'node:path';
import * as z from 'zod';
import { nearest } from '../util/nearest.ts';
import { readRegular } from '../util/regular-file.ts';
import { AppError, didYouMean, type NoneYet, type UsageProblem, usageError } from './app-error.ts';
import type { ConfigLayers } from './config-layers.ts';
import { describeIssue, PLAIN_WORDS } from './describe-issue.ts';
import { type DurationUnit, readDuration, UNIT_WORDS } from './duration.ts';
import type { CommandLine } from './flags.ts';
import type { OperationDescription } from './operation.ts';
import { label, type Parameter } from './parameters.ts';

/** The sources of an input besides the flags. */
interface InputSources {
  cwd: string;
  env?: Readonly<Record<string, string | undefined>>;
  layers?: ConfigLayers | undefined;
  readStdin(): Promise<string>;
  /** The program and its command, for hints. */
  invocation: string;
  /** A valid call as an example; undefined when no example is valid here. */
  example?: string | undefined;
  /** Lists the values of the missing parameter, where there are none yet. */
  none?: NoneYet | undefined;
}

/** Builds the operation's input from a command line, or throws one E_USAGE with every problem. */
export async function readInput<I extends z.ZodObject>(
  op: OperationDescription<I>,
  parameters: readonly Parameter[],
  line: CommandLine,
  sources: InputSources,
): Promise<z.output<I>> {
  const problems = [...line.problems];
  const values: Record<string, unknown> = await readInputJson(line, parameters, sources, problems);
  const places = new Map<string, string>();
  const variables = new Map<string, string>();
  for (const each of parameters) {
    const texts = line.given.get(each.key);
    const variable = each.env === undefined ? undefined : sources.env?.[each.env];
    if (texts !== undefined) values[each.key] = readTexts(each, texts, problems);
    else if (values[each.key] !== undefined) continue;
    else if (variable !== undefined && variable !== '') {
      values[each.key] = readTexts(each, each.isArray ? variable.split(',') : [variable], problems);
      if (!line.problems.some(({ parameter }) => parameter === label(each)))
        variables.set(label(each), each.env!);
    } else {
      const layer = each.config === undefined ? undefined : sources.layers?.valueOf(each.config);
      if (layer === undefined) continue;
      values[each.key] = layer.value;
      places.set(label(each), `${each.config} in ${layer.source}`);
    }
  }
  if (op.passthrough !== undefined && line.passthrough !== undefined)
    values[op.passthrough] = line.passthrough;
  const checked = await op.input.safeParseAsync(values, PLAIN_WORDS);
  const blamed = new Set(problems.map((problem) => problem.parameter));
  for (const issue of checked.error?.issues ?? []) {
    const problem = describeIssue(issue, parameters, values);
    const place = places.get(problem.parameter);
    if (place !== undefined) throw new AppError('E_CONFIG_INVALID', `${place}: ${problem.message}`);
    if (!blamed.has(problem.parameter)) problems.push(problem);
  }
  if (problems.length > 0 || !checked.success)
    throw usageError(inVariables(problems, variables), sources.invocation, sources.example, sources.none);
  return checked.data;
}

/** The problems of values from the environment, with the variable in front. */
function inVariables(
  problems: readonly UsageProblem[],
  variables: ReadonlyMap<string, string>,
): readonly UsageProblem[] {
  return problems.map((problem) => {
    const variable = variables.get(problem.parameter);
    return variable === undefined ? problem : { ...problem, message: `${variable}: ${problem.message}` };
  });
}

/** Converts the texts that were given for a parameter; each one that cannot be converted is a problem. */
export function readTexts(
  parameter: Parameter,
  texts: (string | boolean)[],
  problems: UsageProblem[],
): unknown {
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
  const { lossOf } = await import('../util/exact-json.ts');
  let value: unknown;
  try {
    const text = await inputJsonText(line.inputJson, sources);
    value = JSON.parse(text);
    const loss = lossOf(text, value);
    if (loss !== undefined) return wrong(loss.mistake, loss);
  } catch (error) {
    // The message of the engine quotes what it could not read.
    if (error instanceof SyntaxError && parameters.some(({ isSecret }) => isSecret))
      return wrong('is not JSON');
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
  if (given.startsWith('@')) return readRegular(resolve(sources.cwd, given.slice(1))).toString();
  return given;
}

/** A value, or why the text is invalid. */
type ReadValue = { value: unknown } | { problem: UsageProblem };

const NUMBER = /^[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

/** Converts a text of the command line to the parameter's type; the schema validates it afterwards. */
export function readValue(parameter: Parameter, text: string): ReadValue {
  switch (parameter.kind) {
    case 'string':
      return { value: text };
    case 'integer':
    case 'number': {
      const { unit } = parameter;
      if (unit !== undefined) return readNumberOfUnit(parameter, text, unit);
      return NUMBER.test(text) ? { value: Number(text) } : wrong(parameter, text, 'a number');
    }
    case 'boolean':
      if (text === 'true' || text === 'false') return { value: text === 'true' };
      return wrong(parameter, text, 'true or false');
    case 'json':
      return readJson(parameter, text);
  }
}

function readNumberOfUnit(parameter: Parameter, text: string, unit: DurationUnit): ReadValue {
  const value = NUMBER.test(text) ? Number(text) : readDuration(text, unit);
  return value === undefined
    ? wrong(parameter, text, `a duration, such as 90s, 5m, 1h or 7d (without a unit: ${UNIT_WORDS[unit]})`)
    : { value };
}

// A field that accepts JSON as well as plain text (`z.unknown()`, a union with a string) is first read as JSON.
function readJson(parameter: Parameter, text: string): ReadValue {
  const accepts = (value: unknown) =>
    z.safeParse(parameter.schema, parameter.isArray ? [value] : value).success;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return accepts(text) ? { value: text } : wrong(parameter, text, 'JSON');
  }
  return { value: !accepts(parsed) && accepts(text) ? text : parsed };
}

function wrong(parameter: Parameter, text: string, wanted: string): ReadValue {
  const where = label(parameter);
  const instead = parameter.isSecret ? '' : `, not ${JSON.stringify(text)}`;
  return { problem: { parameter: where, message: `${where} must be ${wanted}${instead}` } };
}
