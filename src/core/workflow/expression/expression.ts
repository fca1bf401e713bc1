import { AcorError } from '../../../protocol/acor-error.ts';
import { placeText } from '../../config/problem.ts';
import type { CelProblem } from './cel-nodes.ts';

/** How much of an expression a message shows. */
const MOST_SHOWN = 200;

/** A parsed expression of a workflow file (CEL). */
export interface Expression {
  /** The source between the braces. */
  source: string;
  /** Its place in the file, counted from 1. */
  at: { line: number; column: number };
  /** The names that it reads, such as `['steps', 'fetch', 'data', 'rows']`. */
  references: readonly Reference[];
  /** Evaluates to a JSON value. Throws E_WORKFLOW_INVALID with its place when there is no value. */
  evaluate(scope: Scope): unknown;
}

/** A path that an expression reads: names and constant indexes. */
export type Reference = readonly string[];

/** The JSON values that expressions may read. */
export interface Scope {
  inputs: Readonly<Record<string, unknown>>;
  steps: Readonly<Record<string, StepScope>>;
  workflow: { run_id: string; ok: boolean };
  /** Only inside a `foreach`. */
  item?: unknown;
  index?: number;
}

/** The result of a step that has ended. */
export interface StepScope {
  state: 'completed' | 'failed' | 'cancelled' | 'skipped';
  ok: boolean;
  code: string | null;
  run_id: string | null;
  /** The `data` of its result; for a `foreach`, the list of its items' data in order. */
  data: unknown;
  /** Absolute paths, by the name of the input that contained them, else by file name. */
  artifacts: Readonly<Record<string, string>>;
  /** Only for a decision. */
  answer?: unknown;
  /** Only for `foreach` and `parallel`: the number of tasks, and how many failed. */
  count?: number;
  failed?: number;
}

/**
 * A value of a workflow file whose texts may contain `${…}`. A text that is exactly one expression keeps the type of
 * its value; inside a longer text the value becomes text. `$${` escapes `${`.
 */
export type Template =
  | { kind: 'constant'; value: unknown }
  | { kind: 'expression'; expression: Expression }
  | { kind: 'text'; parts: readonly (string | Expression)[] }
  | { kind: 'list'; items: readonly Template[] }
  | { kind: 'map'; entries: Readonly<Record<string, Template>> };

/** All expressions of a template in their order. */
export function expressionsIn(template: Template): Expression[] {
  switch (template.kind) {
    case 'constant':
      return [];
    case 'expression':
      return [template.expression];
    case 'text':
      return template.parts.filter((part) => typeof part !== 'string');
    case 'list':
      return template.items.flatMap(expressionsIn);
    case 'map':
      return Object.values(template.entries).flatMap(expressionsIn);
  }
}

/**
 * Evaluates a template. Throws E_WORKFLOW_INVALID with the expression and its place when an expression has no value.
 */
export function evaluate(template: Template, scope: Scope): unknown {
  switch (template.kind) {
    case 'constant':
      return template.value;
    case 'expression':
      return template.expression.evaluate(scope);
    case 'text':
      return template.parts
        .map((part) => (typeof part === 'string' ? part : asText(part.evaluate(scope))))
        .join('');
    case 'list':
      return template.items.map((item) => evaluate(item, scope));
    case 'map':
      return Object.fromEntries(
        Object.entries(template.entries).map(([key, each]) => [key, evaluate(each, scope)]),
      );
  }
}

/** Formats a value inside a longer text. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

export function evaluationError(
  file: string,
  { source, at }: Expression,
  { message, hint }: CelProblem,
): AcorError {
  return new AcorError(
    'E_WORKFLOW_INVALID',
    `${placeText({ file, ...at })}: \${${beginningOf(source)}}: ${message}`,
    {
      hint:
        hint ??
        'Check the result of the earlier step, or test it first: steps.NAME.ok ? … : …, or has(…) ? … : …',
      details: { expression: source },
    },
  );
}

/** The reason behind a long expression must not be cut off with it. */
function beginningOf(source: string): string {
  return source.length > MOST_SHOWN ? `${source.slice(0, MOST_SHOWN)}…` : source;
}
