import { AcorError } from '../../../protocol/acor-error.ts';
import { placeText } from '../../config/problem.ts';
import type { CelProblem } from './cel-nodes.ts';
import type { Expression, Scope, Template } from './expression.ts';

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
  { message }: CelProblem,
): AcorError {
  return new AcorError('E_WORKFLOW_INVALID', `${placeText({ file, ...at })}: \${${source}}: ${message}`, {
    hint: 'Check the result of the earlier step, or test it first: has(…) ? … : …',
    details: { expression: source },
  });
}
