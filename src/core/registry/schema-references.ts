type Schema = Readonly<Record<string, unknown>>;
export type SchemaPath = readonly (string | number)[];

/** A schema within another one, and its place there. */
interface Placed {
  schema: object;
  path: SchemaPath;
}

/** The address of a schema without an `$id`. */
const ROOT = 'acor:/schema';

/** What the references of a schema name within it: by a JSON pointer, an anchor, or the `$id` of a part (JSON Schema 2020-12, 8.2). */
export class SchemaReferences {
  /** By absolute address, anchors with theirs behind a `#`. */
  readonly #placed = new Map<string, Placed>();
  /** What a dynamic reference may name: its caller decides. */
  readonly #dynamic = new Map<string, Placed[]>();
  readonly #baseOf = new Map<object, string>();

  constructor(root: Schema) {
    this.#placed.set(ROOT, { schema: root, path: [] });
    this.#enter(root, [], ROOT);
  }

  /** What the references of this schema apply to the same value, by keyword. */
  *of(schema: Schema): Generator<[keyword: string, named: Placed]> {
    const base = this.#baseOf.get(schema) ?? ROOT;
    for (const keyword of ['$ref', '$dynamicRef']) {
      const reference = schema[keyword];
      if (typeof reference !== 'string') continue;
      const named = this.#named(reference, base);
      if (named !== undefined) yield [keyword, named];
      const anchor = /#([^/]+)$/.exec(reference)?.[1] ?? '';
      if (keyword === '$dynamicRef')
        for (const each of this.#dynamic.get(anchor) ?? [])
          if (each.schema !== named?.schema) yield [keyword, each];
    }
  }

  #enter(value: object, path: SchemaPath, outer: string): void {
    const { $id, $anchor, $dynamicAnchor } = value as Schema;
    const placed = { schema: value, path };
    const base = typeof $id === 'string' ? addressOf($id, outer) : outer;
    if (base !== outer) this.#placed.set(base, placed);
    this.#baseOf.set(value, base);
    for (const anchor of [$anchor, $dynamicAnchor])
      if (typeof anchor === 'string') this.#placed.set(`${base}#${anchor}`, placed);
    if (typeof $dynamicAnchor === 'string')
      this.#dynamic.set($dynamicAnchor, [...(this.#dynamic.get($dynamicAnchor) ?? []), placed]);
    for (const [key, each] of Object.entries(value))
      if (typeof each === 'object' && each !== null) this.#enter(each, [...path, key], base);
  }

  /** Undefined for what is not in this schema: the checker of the schema reports it. */
  #named(reference: string, base: string): Placed | undefined {
    const [address = '', fragment = ''] = addressOf(reference, base).split('#', 2);
    if (fragment !== '' && !fragment.startsWith('/')) return this.#placed.get(`${address}#${fragment}`);
    const resource = this.#placed.get(address);
    if (resource === undefined) return undefined;
    // The checker of schemas takes #/ for #.
    const keys = fragment === '/' ? [] : pathOf(fragment);
    let found: unknown = resource.schema;
    for (const key of keys)
      found = typeof found === 'object' && found !== null ? (found as Schema)[key] : undefined;
    if (typeof found !== 'object' || found === null) return undefined;
    return { schema: found, path: [...resource.path, ...keys] };
  }
}

/** An absolute address without an empty fragment; one that cannot be read stays as it is. */
function addressOf(reference: string, base: string): string {
  try {
    return new URL(reference, base).href.replace(/#$/, '');
  } catch {
    return reference;
  }
}

/** The keys on the way to what a `$ref` into the same schema names. */
function pathOf(ref: string): string[] {
  return ref.split('/').slice(1).map(pointed);
}

function pointed(part: string): string {
  const text = part.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
