import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { flagOf, isQuickPattern } from '../../protocol/input-types.ts';
import type { InputSpec, Manifest } from '../../protocol/manifest.ts';
import { errorCode, errorMessage } from '../../util/error-code.ts';
import { isTooDeep, lossOfKey, parseExact, shownJson, TOO_DEEP } from '../../util/exact-json.ts';
import { nearestWords } from '../../util/nearest.ts';
import { NOT_REGULAR, readRegular } from '../../util/regular-file.ts';
import { type ArgumentProblem, usageProblem } from './argument-problem.ts';
import { inputsOf, type UnlistedInput, unlistedInputOf } from './input-schema.ts';
import { type GivenValue, type InputValue, readValue } from './input-values.ts';
import { parseArguments } from './parse-arguments.ts';

/** An input and its values: as data, and as words. */
export interface ReadInput {
  spec: InputSpec;
  values: InputValue[];
  /** The caller gave it no value. */
  isDefault?: true;
  /** A part of its value is unknown, and not among the values. */
  isOpen?: true;
}

/** How the words of a call are read. */
interface Reading {
  cwd: string;
  readStdin?: () => string;
  /** Only for words that a person has written: ACOR reads the file with the rights of its user. */
  readsFiles?: boolean;
  open?: (value: GivenValue) => boolean;
}

/** A call as it is read: the inputs with the values that fit, and all problems. */
export interface ReadCall {
  read: ReadInput[];
  extra: string[];
  behind: string[];
  problems: ArgumentProblem[];
}

/** Reads a command line for a tool; undefined for a tool that declares no inputs. */
export function readToolInputs(
  manifest: Manifest,
  words: readonly string[],
  options: Reading,
): ReadCall | undefined {
  const specs = inputsOf(manifest);
  if (specs === undefined) return undefined;
  const unlisted = unlistedInputOf(manifest);
  return readInputs(specs, words, { ...options, takesExtra: manifest.extra_args, unlisted });
}

/** The values whose pattern may take long, so that reading them does not check it: `slowPatternProblems` does. */
export function slowValuesOf(
  read: readonly ReadInput[],
): { spec: InputSpec; pattern: string; text: string }[] {
  return read.flatMap(({ spec, values }) => {
    const { pattern } = spec;
    if (pattern === undefined) return [];
    return values.flatMap(({ text }) =>
      isQuickPattern(pattern, text.length) ? [] : { spec, pattern, text },
    );
  });
}

/** The value of an input: a list for an input that accepts several. */
export function givenValue({ spec, values }: ReadInput): unknown {
  return spec.multiple ? values.map(({ value }) => value) : values[0]?.value;
}

/**
 * Reads a command line for a tool's inputs: flags, then `--input-json`, then defaults. Inputs in `open` have a value
 * that is still unknown, so it is not checked.
 */
export function readInputs(
  specs: readonly InputSpec[],
  words: readonly string[],
  options: Reading & { takesExtra?: boolean; unlisted?: UnlistedInput | undefined },
): ReadCall {
  const { given, unlisted, inputJson, extra, behind, problems } = parseArguments(specs, words, options);
  const known = new Map([...specs, ...unlisted].map((spec) => [spec.name, spec]));
  // Flags win over --input-json, and a later --input-json wins over an earlier one.
  const all = new Map<string, GivenValue[]>();
  for (const source of inputJson) {
    const json = readInputJson(specs, source, options);
    problems.push(...json.problems);
    for (const spec of json.unlisted) known.set(spec.name, spec);
    for (const [name, values] of json.given) all.set(name, values);
  }
  for (const [name, values] of given) all.set(name, values);

  // What a text holds that could not be read is unknown.
  const isAllRead = problems.every(({ rule }) => rule !== 'input-json');
  const read: ReadInput[] = [];
  for (const spec of known.values()) {
    const values = all.get(spec.name) ?? defaultOf(spec);
    if (values === undefined) {
      if (spec.required && isAllRead) problems.push(missing(spec));
      continue;
    }
    const good = values.flatMap((each) => {
      if (options.open?.(each)) return [];
      const value = readValue(spec, each);
      if (!('mistake' in value)) return value;
      problems.push(
        usageProblem(
          spec.name,
          value.rule,
          `'${spec.name}' ${value.mistake}${shownGiven(spec, each)}`,
          value.fix ?? 'Use a valid value.',
        ),
      );
      return [];
    });
    read.push({
      spec,
      values: good,
      ...(!all.has(spec.name) && { isDefault: true }),
      ...(options.open && values.some(options.open) && { isOpen: true }),
    });
  }
  return { read, extra, behind, problems };
}

function defaultOf(spec: InputSpec): GivenValue[] | undefined {
  if (spec.default === undefined) return undefined;
  const values: unknown[] = spec.multiple && Array.isArray(spec.default) ? spec.default : [spec.default];
  return values.map((json) => ({ json }));
}

function missing(spec: InputSpec): ArgumentProblem {
  return usageProblem(
    spec.name,
    'required',
    `'${spec.name}' is required and is not given`,
    `Add ${wordsOf(spec)}.`,
  );
}

/** An input as the caller writes it. */
export function wordsOf(spec: InputSpec): string {
  if (spec.positional) return `<${spec.name}>`;
  return spec.type === 'bool' ? flagOf(spec) : `${flagOf(spec)} <${spec.type}>`;
}

/** The end of a message about a value: the value, unless it is secret. */
export function shownGiven(spec: InputSpec, given: GivenValue): string {
  if (spec.secret) return '';
  const shown = 'text' in given ? `'${given.text}'` : shownJson(given.json);
  return `, and is ${shown.length > 200 ? `${shown.slice(0, 200)}…` : shown}`;
}

const MAX_INPUT_JSON_BYTES = 8 * 1024 * 1024;

/** Reads the values of `--input-json` (contract §5): inline JSON, `@file`, or `-` for stdin. */
function readInputJson(
  specs: readonly InputSpec[],
  source: string,
  options: Reading & { unlisted?: UnlistedInput | undefined },
): { given: Map<string, GivenValue[]>; unlisted: InputSpec[]; problems: ArgumentProblem[] } {
  const given = new Map<string, GivenValue[]>();
  const unlisted: InputSpec[] = [];
  const problems: ArgumentProblem[] = [];
  const object = objectFrom(source, options);
  if ('mistake' in object) {
    problems.push(usageProblem('input-json', 'input-json', `--input-json ${object.mistake}`, object.fix));
    return { given, unlisted, problems };
  }
  for (const [name, value] of Object.entries(object.values)) {
    const listed = specs.find((each) => each.name === name);
    const spec = listed ?? options.unlisted?.(name);
    if (spec === undefined) {
      const [nearest] = nearestWords(
        name,
        specs.map((each) => each.name),
        1,
      );
      problems.push(
        usageProblem(
          name,
          'unknown-input',
          `--input-json names '${name}', which is not an input${nearest ? `; did you mean '${nearest}'?` : ''}`,
          nearest ? `Write "${nearest}".` : `Inputs: ${specs.map((each) => each.name).join(', ') || 'none'}.`,
        ),
      );
      continue;
    }
    if (listed === undefined) unlisted.push(spec);
    const values: unknown[] = spec.multiple && Array.isArray(value) ? value : [value];
    given.set(
      name,
      values.map((each) => ({ json: each })),
    );
  }
  return { given, unlisted, problems };
}

function objectFrom(
  source: string,
  options: Reading,
): { values: Record<string, unknown> } | { mistake: string; fix: string } {
  const no = (mistake: string) => ({ mistake, fix: formsFor(options) });
  try {
    const text = textOf(source, options);
    const value = parseExact(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return no('is not a JSON object');
    if (isTooDeep(value)) return TOO_DEEP;
    return lossOfKey(text) ?? { values: value as Record<string, unknown> };
  } catch (error) {
    if (error instanceof SyntaxError) return no('is not valid JSON');
    const code = errorCode(error);
    return no(`cannot be read (${code === undefined || code === NOT_REGULAR ? errorMessage(error) : code})`);
  }
}

function formsFor({ readsFiles = false, readStdin }: Reading): string {
  const forms = [...(readsFiles ? ['@file'] : []), ...(readStdin === undefined ? [] : ['- for stdin'])];
  return `Give ${['a JSON object of input names and values', ...forms].join(', or ')}.`;
}

function textOf(source: string, { cwd, readStdin, readsFiles = false }: Reading): string {
  if (source === '-') {
    if (readStdin === undefined) throw new Error('there is no stdin here');
    return readStdin();
  }
  if (!source.startsWith('@')) return source;
  if (!readsFiles)
    throw new Error('a call of a workflow or a tool names no file: give the JSON object itself');
  const file = resolve(cwd, source.slice(1));
  if (statSync(file).size > MAX_INPUT_JSON_BYTES) throw new Error(`more than ${MAX_INPUT_JSON_BYTES} bytes`);
  return readRegular(file).toString();
}
