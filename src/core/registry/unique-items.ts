import type { FuncKeywordDefinition, SchemaValidateFunction } from 'ajv';

const validate: SchemaValidateFunction = (isWanted: boolean, items: unknown[]) => {
  const twice = isWanted ? firstTwice(items) : undefined;
  if (twice === undefined) return true;
  const [i, j] = twice;
  const message = `must NOT have duplicate items (items ## ${j} and ${i} are identical)`;
  validate.errors = [{ params: { i, j }, message }];
  return false;
};

/** The keyword `uniqueItems` in linear time: Ajv compares each item with each other one. */
export const uniqueItems = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  errors: true,
  validate,
} satisfies FuncKeywordDefinition;

function firstTwice(items: readonly unknown[]): [number, number] | undefined {
  const seen = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const text = JSON.stringify(item, sorted);
    const before = seen.get(text);
    if (before !== undefined) return [index, before];
    seen.set(text, index);
  }
  return undefined;
}

/** Objects are equal whatever the order of their keys is. */
function sorted(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
