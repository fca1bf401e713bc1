import type * as z from 'zod';

/** A key that a schema knows, and the path of a value there: `inputs[].name`, `tools.*.limits`. */
export interface PlaceOfKey {
  key: string;
  path: string;
}

/** All keys of the maps in a schema, each with its places. */
export function placesOfKeys(schema: z.core.$ZodType, path = ''): PlaceOfKey[] {
  const { def } = schema._zod as unknown as { def: Definition };
  switch (def.type) {
    case 'object':
      return Object.entries(def.shape).flatMap(([key, value]) => {
        const place = path === '' ? key : `${path}.${key}`;
        return [{ key, path: place }, ...placesOfKeys(value, place)];
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
  | { type: 'object'; shape: Readonly<Record<string, z.core.$ZodType>> }
  | { type: 'array'; element: z.core.$ZodType }
  | { type: 'record'; valueType: z.core.$ZodType }
  | { type: 'union'; options: readonly z.core.$ZodType[] }
  | { type: 'optional' | 'default' | 'prefault' | 'nullable'; innerType: z.core.$ZodType }
  | { type: 'other' };
