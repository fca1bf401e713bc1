import { type SchemaPath as Path, SchemaReferences } from './schema-references.ts';

type Schema = Readonly<Record<string, unknown>>;

/** A place in a schema that makes its checks endless, or nearly so. */
export class EndlessSchema extends Error {
  readonly path: Path;
  readonly fix: string;

  constructor(message: string, path: Path, fix: string) {
    super(message);
    this.path = path;
    this.fix = fix;
  }
}

/** The schemas by which one value may be checked; a real schema has some hundreds. */
const MAX_REACH = 100_000;

/** Keywords whose schemas are about the value itself, and not about a part of it. */
const OF_VALUE = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'];
const MAPS_OF_VALUE = ['dependentSchemas', 'dependencies'];
/** Keywords with schemas by name, whatever the name is. */
const MAPS = [...MAPS_OF_VALUE, 'properties', 'patternProperties', '$defs', 'definitions'];
/** Keywords with data that may look like a schema. */
const DATA = ['enum', 'const', 'default', 'examples'];

/**
 * Throws EndlessSchema for a schema by which one value is checked again and again: it refers to itself without a property or an item in between, or
 * so often to others that the number of checks grows with each level (each of 30 levels that refers twice to the next makes a billion).
 */
export function refuseEndless(root: Schema): void {
  const reach = new Map<object, number | undefined>();
  const references = new SchemaReferences(root);

  const reachOf = (schema: object, path: Path): number => {
    const known = reach.get(schema);
    if (known !== undefined) return known;
    reach.set(schema, undefined);
    let sum = 1;
    for (const { applied, place, own } of appliedTo(schema as Schema, path, references)) {
      if (reach.has(applied) && reach.get(applied) === undefined) throw endless(place);
      sum += reachOf(applied, own);
      if (sum > MAX_REACH) throw tooManyAt(path);
    }
    reach.set(schema, sum);
    return sum;
  };

  const visit = (value: unknown, path: Path, isMap: boolean): void => {
    if (typeof value !== 'object' || value === null) return;
    if (!Array.isArray(value) && !isMap) reachOf(value, path);
    for (const [key, each] of Object.entries(value))
      if (isMap || !DATA.includes(key)) visit(each, [...path, key], !isMap && MAPS.includes(key));
  };
  visit(root, [], false);
}

function endless(place: Path): EndlessSchema {
  const message = `the reference at ${pointer(place)} leads back to itself, with no property or item in between, so a check has no end`;
  return new EndlessSchema(message, place, "Remove the reference, or put it below 'properties' or 'items'.");
}

function tooManyAt(path: Path): EndlessSchema {
  const message = `the schema at ${pointer(path)} checks one value by more than ${MAX_REACH} schemas, because its references multiply at each level`;
  return new EndlessSchema(message, path, 'Refer to each schema once, and write alternatives into one list.');
}

/** A schema that another one applies to the same value: where it is applied, and its own place. */
interface Applied {
  applied: object;
  place: Path;
  own: Path;
}

function appliedTo(schema: Schema, path: Path, references: SchemaReferences): Applied[] {
  const found: Applied[] = [];
  const add = (applied: unknown, place: Path, own = place) => {
    if (typeof applied === 'object' && applied !== null && !Array.isArray(applied))
      found.push({ applied, place, own });
  };
  for (const [keyword, named] of references.of(schema)) add(named.schema, [...path, keyword], named.path);
  for (const key of OF_VALUE) {
    const value = schema[key];
    if (!Array.isArray(value)) add(value, [...path, key]);
    else for (const [index, each] of value.entries()) add(each, [...path, key, index]);
  }
  for (const key of MAPS_OF_VALUE)
    for (const [name, each] of Object.entries(schema[key] ?? {})) add(each, [...path, key, name]);
  return found;
}

function pointer(path: Path): string {
  return ['#', ...path].join('/');
}
