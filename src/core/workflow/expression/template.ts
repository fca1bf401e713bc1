import type { Expression } from './expression.ts';

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
