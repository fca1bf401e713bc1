import type * as z from 'zod';
import { estimateTokens } from '../util/estimate-tokens.ts';
import { nearest } from '../util/nearest.ts';
import { didYouMean, type UsageProblem, usageError } from './app-error.ts';
import type { GlobalFlags } from './globals.ts';
import type { NextStep } from './next-step.ts';
import type { DataResult, OperationDescription } from './operation.ts';
import {
  type Answering,
  elementSchemas,
  fieldNames,
  hasField,
  type MainArray,
  mainArrayIn,
  mainArrayOf,
} from './output-shape.ts';

/** The requested part of an answer. */
export type Selection = Pick<GlobalFlags, 'fields' | 'limit' | 'offset' | 'maxTokens'>;

type Described = Pick<OperationDescription, 'output' | 'list'>;

/** The selected part of an answer, and its metadata for the envelope. */
export interface Selected {
  data: unknown;
  count: number | undefined;
  total: number | undefined;
  hasMore: boolean | undefined;
  /** What leads on instead of the steps of the answer, because its page was cut. */
  next?: readonly NextStep[];
}

/** Rejects, before any work is done, a selection that the operation's output schema rules out. */
export function checkSelection(op: Described, selection: Selection, invocation?: string): void {
  const main = mainArrayOf(op);
  const problems: UsageProblem[] = [];
  const cuts = {
    '--limit': selection.limit,
    '--offset': selection.offset,
    '--max-tokens': selection.maxTokens,
  };
  for (const [flag, value] of Object.entries(cuts)) {
    if (value === undefined || main !== undefined) continue;
    problems.push({ parameter: flag, message: `${flag}: the answer has no list to cut` });
  }
  if (selection.fields !== undefined) problems.push(...unknownFields(op, main, selection.fields));
  if (problems.length > 0) throw usageError(problems, invocation);
}

function unknownFields(
  op: Described,
  main: MainArray | 'unknown',
  fields: readonly string[],
): UsageProblem[] {
  const elements = main === 'unknown' ? elementsOfAnyMember(op.output) : elementSchemas(op.output, main);
  const schemas = [...elements, op.output];
  return fields
    .filter((path) => hasField(schemas, path.split('.')) === 'no')
    .map((path) => unknownField(path, schemas));
}

/**
 * Applies a selection to an answer. A field that neither the schema nor the data has is an E_USAGE. With `total` or
 * `isPage`, the list is already the page.
 */
export function select(
  operation: Answering,
  {
    data,
    list: key,
    total,
    isPage,
    cutAfter,
  }: Pick<DataResult<unknown>, 'data' | 'list' | 'total' | 'isPage' | 'cutAfter'>,
  selection: Selection,
  invocation?: string,
): Selected {
  const op = key === undefined ? operation : { ...operation, list: key };
  if (isWhole(selection) && !holdsArrays(data)) return { data, ...NO_COUNTS };
  const declared = mainArrayOf(op);
  const main = declared === 'unknown' ? mainArrayIn(data) : declared;
  const list = listIn(data, main);
  const { limit, maxTokens } = selection;
  const isCut = [limit, selection.offset, maxTokens].some((each) => each !== undefined);
  if (isCut && list === undefined && declared === 'unknown') {
    throw usageError([{ parameter: '--limit', message: 'the answer has no list to cut' }], invocation);
  }
  if (list === undefined || main === undefined) {
    return { data: keep(op, data, undefined, selection, invocation), ...NO_COUNTS };
  }
  const start = selection.offset ?? 0;
  const length = total ?? list.length;
  const end = selection.limit === undefined ? length : start + selection.limit;
  const page = isPage === true || total !== undefined ? list : list.slice(start, end);
  const whole = main.key === null ? page : { ...(data as object), [main.key]: page };
  const kept = withinTokens(keep(op, whole, main, selection, invocation), main, maxTokens);
  const count = kept.count ?? page.length;
  const cut = count < page.length ? cutAfter?.(page[count - 1]) : undefined;
  const changed = cut && { ...(whole as object), ...cut.data, [main.key!]: page.slice(0, count) };
  return {
    data: changed ? keep(op, changed, main, selection, invocation) : kept.data,
    count,
    ...(cut && { next: cut.next }),
    total: isCut && !isPage ? length : undefined,
    hasMore: isCut && !isPage ? end < length || count < page.length : count < page.length ? true : undefined,
  };
}

/** Cuts the list to what fits, but not below one element, so that the next page is another one. */
function withinTokens(
  data: unknown,
  main: MainArray,
  maxTokens: number | undefined,
): { data: unknown; count: number | undefined } {
  const list = maxTokens === undefined ? undefined : listIn(data, main);
  if (list === undefined || maxTokens === undefined) return { data, count: undefined };
  let left = maxTokens;
  const fitting = list.findIndex((element) => {
    left -= estimateTokens(JSON.stringify(element) ?? '');
    return left < 0;
  });
  const count = fitting === -1 ? list.length : Math.max(1, fitting);
  const cut = list.slice(0, count);
  return { data: main?.key == null ? cut : { ...(data as object), [main.key]: cut }, count };
}

const NO_COUNTS = { count: undefined, total: undefined, hasMore: undefined };

function isWhole({ fields, limit, offset, maxTokens }: Selection): boolean {
  return fields === undefined && limit === undefined && offset === undefined && maxTokens === undefined;
}

/** Without an array there is no list, whatever the schema says, which takes time to make. */
function holdsArrays(data: unknown): boolean {
  return Array.isArray(data) || (isRecord(data) && Object.values(data).some((value) => Array.isArray(value)));
}

function listIn(data: unknown, main: MainArray): readonly unknown[] | undefined {
  if (main === undefined) return undefined;
  const value = main.key === null ? data : isRecord(data) ? data[main.key] : undefined;
  return Array.isArray(value) ? value : undefined;
}

/** A path means a field of the list's elements and of the whole answer: of both, where both have it. */
function keep(
  op: Answering,
  data: unknown,
  main: MainArray,
  selection: Selection,
  invocation: string | undefined,
): unknown {
  if (selection.fields === undefined) return data;
  const ofElements: string[][] = [];
  const ofWhole: string[][] = [];
  const problems: UsageProblem[] = [];
  const outputs = op.output === undefined ? [] : [op.output];
  const elements = outputs.flatMap((output) => elementSchemas(output, main));
  const list = listIn(data, main) ?? [];
  for (const path of selection.fields.map((field) => field.split('.'))) {
    const isInElements = hasField(elements, path) === 'yes' || list.some((each) => hasPath(each, path));
    // The fields of an empty list are unknown when its schema does not list them.
    const isEmptyAndOpen = list.length === 0 && (main?.key === null || hasField(elements, path) === 'open');
    const inWhole = hasField(outputs, path);
    const isInWhole =
      inWhole === 'yes' || hasPath(data, path) || (inWhole === 'open' && endsInNothing(data, path));
    if (isInElements) ofElements.push(path);
    if (isInWhole) ofWhole.push(path);
    if (isInElements || isInWhole) continue;
    if (isEmptyAndOpen) ofElements.push(path);
    else problems.push(unknownField(path.join('.'), [...elements, ...outputs], [...list, data]));
  }
  if (problems.length > 0) throw usageError(problems, invocation);
  if (main?.key === null) return project(data, tree([...ofElements, ...ofWhole]));
  const whole = tree(ofWhole);
  const key = main?.key;
  if (key !== undefined && ofElements.length > 0 && whole.get(key) !== true) {
    whole.set(
      key,
      tree([...ofElements, ...ofWhole.filter((path) => path[0] === key).map((path) => path.slice(1))]),
    );
  }
  return project(data, whole);
}

type Tree = Map<string, Tree | true>;

function tree(paths: readonly string[][]): Tree {
  const root: Tree = new Map();
  for (const path of paths) {
    let node = root;
    for (const [depth, name] of path.entries()) {
      const inner = node.get(name);
      if (inner === true) break;
      if (depth === path.length - 1) node.set(name, true);
      else {
        const next: Tree = inner ?? new Map();
        node.set(name, next);
        node = next;
      }
    }
  }
  return root;
}

function project(value: unknown, wanted: Tree | true): unknown {
  if (wanted === true) return value;
  if (Array.isArray(value)) return value.map((each) => project(each, wanted));
  if (!isRecord(value)) return value;
  const kept = [...wanted].filter(([name]) => Object.hasOwn(value, name));
  return Object.fromEntries(kept.map(([name, inner]) => [name, project(value[name], inner)]));
}

function hasPath(value: unknown, path: readonly string[]): boolean {
  if (path.length === 0) return true;
  if (Array.isArray(value)) return value.some((each) => hasPath(each, path));
  return isRecord(value) && Object.hasOwn(value, path[0]!) && hasPath(value[path[0]!], path.slice(1));
}

/** Whether the path leads to a null, below which this answer cannot show which fields there are. */
function endsInNothing(value: unknown, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined || !isRecord(value) || !Object.hasOwn(value, name)) return false;
  return value[name] === null || endsInNothing(value[name], rest);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** When only the data can identify the main array, every array is a candidate. */
function elementsOfAnyMember(output: z.core.$ZodType): z.core.$ZodType[] {
  return fieldNames([output]).flatMap((key) => elementSchemas(output, { key }));
}

/** The paths that the data has beside the first unknown name of this path; undefined at the top. */
function nestedNames(path: readonly string[], samples: readonly unknown[]): string[] | undefined {
  for (const sample of samples) {
    let value = sample;
    let depth = 0;
    while (isRecord(value) && Object.hasOwn(value, path[depth]!)) value = value[path[depth++]!];
    if (depth > 0 && depth < path.length && isRecord(value)) {
      return Object.keys(value).map((name) => [...path.slice(0, depth), name].join('.'));
    }
  }
  return undefined;
}

function unknownField(
  path: string,
  schemas: readonly z.core.$ZodType[],
  samples: readonly unknown[] = [],
): UsageProblem {
  const nested = nestedNames(path.split('.'), samples);
  if (nested !== undefined) {
    const near = nearest(path, nested);
    const fix = near === undefined ? { fix: `Fields: ${nested.join(', ')}.` } : didYouMean(near);
    return { parameter: '--fields', message: `unknown field ${JSON.stringify(path)}`, ...fix };
  }
  const seen = samples.filter(isRecord).flatMap((sample) => Object.keys(sample));
  const names = [...new Set([...fieldNames(schemas), ...seen])];
  const parents = path.split('.').slice(0, -1);
  const guess = nearest(path, names) ?? nearest(path.split('.')[0]!, names);
  const choices = names.length === 0 ? {} : { fix: `Fields: ${names.join(', ')}.` };
  const fix =
    guess === undefined || (parents.length > 0 && guess === parents[0]) ? choices : didYouMean(guess);
  return { parameter: '--fields', message: `unknown field ${JSON.stringify(path)}`, ...fix };
}
