import type * as z from 'zod';

/** A key that a schema knows, and a place of it: `inputs[].name`, `tools.*.limits`. */
export interface PlaceOfKey {
  key: string;
  path: string;
  /** Whether the value may be there. */
  accepts(value: unknown): boolean;
}

/** All keys of the maps in a schema, each with its places. */
export function placesOfKeys(schema: z.ZodType, path = ''): PlaceOfKey[] {
  const { def } = schema._zod as unknown as { def: Definition };
  switch (def.type) {
    case 'object':
      return Object.entries(def.shape).flatMap(([key, value]) => {
        const place = path === '' ? key : `${path}.${key}`;
        const accepts = (given: unknown) => value.safeParse(given).success;
        return [{ key, path: place, accepts }, ...placesOfKeys(value, place)];
      });
    case 'array':
      return placesOfKeys(def.element, `${path}[]`);
    case 'record':
      return placesOfKeys(def.valueType, path === '' ? '*' : `${path}.*`);
    case 'union':
      return def.options.flatMap((option) => placesOfKeys(option, path));
    case 'optional':
    case 'default':
    case 'prefault':
    case 'nullable':
      return placesOfKeys(def.innerType, path);
    default:
      return [];
  }
}

/** The part of a definition of zod that leads to other schemas. */
type Definition =
  | { type: 'object'; shape: Readonly<Record<string, z.ZodType>> }
  | { type: 'array'; element: z.ZodType }
  | { type: 'record'; valueType: z.ZodType }
  | { type: 'union'; options: readonly z.ZodType[] }
  | { type: 'optional' | 'default' | 'prefault' | 'nullable'; innerType: z.ZodType }
  | { type: 'other' };
