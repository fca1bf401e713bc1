import { CONFIG_KEYS, REFERENCE } from '../src/core/config/variables.ts';

export interface JsonSchema {
  [keyword: string]: unknown;
  required?: string[];
  properties?: Record<string, JsonSchema>;
}

const VARIABLE: JsonSchema = {
  description: 'A text with ${VAR} or ${VAR:-default}.',
  type: 'string',
  pattern: REFERENCE.source,
};

/** The schema of the configuration as a file may be written: a text with a variable is valid wherever ACOR reads its value. */
export function withVariables(schema: JsonSchema): JsonSchema {
  return { ...allowingThem(schema, []), definitions: { variable: VARIABLE } };
}

function allowingThem(schema: JsonSchema, path: readonly string[]): JsonSchema {
  if (mayBeVariable(schema, path)) return orVariable(schema);
  const { properties, items, additionalProperties, anyOf } = schema;
  const inside = (each: unknown, key: string) =>
    typeof each === 'object' ? allowingThem(each as JsonSchema, [...path, key]) : each;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, each]) => [key, inside(each, key) as JsonSchema]),
      ),
    }),
    ...(items !== undefined && { items: inside(items, '[]') }),
    ...(additionalProperties !== undefined && { additionalProperties: inside(additionalProperties, '*') }),
    ...(Array.isArray(anyOf) && { anyOf: anyOf.map((each) => allowingThem(each, path)) }),
  };
}

/** Texts with a form of their own, and the numbers and booleans into which ACOR converts a text. */
function mayBeVariable({ type, ...rules }: JsonSchema, path: readonly string[]): boolean {
  if (type === 'string') return ['pattern', 'enum', 'const', 'format'].some((keyword) => keyword in rules);
  const kind = CONFIG_KEYS[path.join('.')];
  return (
    (kind === 'number' && (type === 'number' || type === 'integer')) ||
    (kind === 'boolean' && type === 'boolean')
  );
}

function orVariable({ default: preset, description, deprecated, ...value }: JsonSchema): JsonSchema {
  return {
    ...(preset !== undefined && { default: preset }),
    ...(description !== undefined && { description }),
    ...(deprecated !== undefined && { deprecated }),
    anyOf: [value, { $ref: '#/definitions/variable' }],
  };
}
