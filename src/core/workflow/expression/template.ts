import type { Expression } from './expression.ts';

/**
 * A value of a workflow file in which texts may hold `${…}`. A text that is one expression and nothing else keeps the type of what
 * that gives; within other text it becomes text. `$${` stands for `${`.
 */
export type Template =
  | { kind: 'constant'; value: unknown }
  | { kind: 'expression'; expression: Expression }
  | { kind: 'text'; parts: readonly (string | Expression)[] }
  | { kind: 'list'; items: readonly Template[] }
  | { kind: 'map'; entries: Readonly<Record<string, Template>> };

/** All expressions of a template, in the order in which they stand there. */
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
