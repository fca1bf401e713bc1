import { flagOf, INPUT_NAME, isQuickPattern } from '../../protocol/input-types.ts';
import type { Choice, InputSpec, InputType, Manifest } from '../../protocol/manifest.ts';
import { SchemaReferences } from './schema-references.ts';

type Schema = Readonly<Record<string, unknown>>;

/** The inputs of a tool, from `inputs` or from a JSON Schema; undefined when it declares none. */
export function inputsOf(manifest: Manifest): readonly InputSpec[] | undefined {
  return manifest.inputs ?? (manifest.input_schema && inputsFromSchema(manifest.input_schema));
}

/** Converts the properties of a JSON Schema to inputs, so that flags, checks and help work the same way. */
export function inputsFromSchema(root: Schema): InputSpec[] {
  const parts = partsOf(root, root);
  const required = new Set(parts.flatMap((part) => listOf(part['required'])));
  return namesIn(root).map((name) => specOf(name, propertyOf(name, root), root, required.has(name)));
}

/** Whether the properties of the schema itself are all inputs that there are, and the schema does not say so. */
export function isSilentlyClosed(root: Schema): boolean {
  const { properties, additionalProperties, unevaluatedProperties } = root;
  const all = [...partsOf(root, root), ...branchesOf(root, root)];
  return (
    additionalProperties === undefined &&
    unevaluatedProperties === undefined &&
    !mayReferToWhole(root) &&
    !all.some(allowsUnlisted) &&
    namesIn(root).every((name) => Object.hasOwn(asSchema(properties), name))
  );
}

/** Whether a part of the schema may be the whole schema, whose values would be closed with it. */
function mayReferToWhole(root: Schema): boolean {
  return /"\$(?:dynamicRef|recursiveRef)":|"\$ref":"(?!#\/)/.test(JSON.stringify(root));
}

/** The input of a name that the schema does not list. */
export type UnlistedInput = (name: string) => InputSpec | undefined;

/** Finds the inputs that only `patternProperties` or `additionalProperties` of a schema allow; undefined when there are none. */
export function unlistedInputOf({ input_schema: root }: Manifest): UnlistedInput | undefined {
  const all = root === undefined ? [] : [...partsOf(root, root), ...branchesOf(root, root)];
  if (root === undefined || !all.some(allowsUnlisted)) return undefined;
  const taken = new Set(
    inputsFromSchema(root).flatMap((spec) => [flagOf(spec), `--no-${spec.name.replaceAll('_', '-')}`]),
  );
  return (name) => {
    // Its flag would be that of another input, whose schema would not be checked.
    if (!INPUT_NAME.test(name) || taken.has(flagOf({ name }))) return undefined;
    const isAllowed = all.some((part) => isOpen(part) || patternsFor(name, part).length > 0);
    return isAllowed ? specOf(name, propertyOf(name, root), root, false) : undefined;
  };
}

/** The types of the inputs that the schema does not list: their names are not known before a call. */
export function unlistedTypes({ input_schema: root }: Manifest): InputType[] {
  if (root === undefined) return [];
  return [...partsOf(root, root), ...branchesOf(root, root)]
    .flatMap((part) => [...Object.values(asSchema(part['patternProperties'])), restOf(part)])
    .map((schema) => specOf('unlisted', schema, root, false).type);
}

function allowsUnlisted(part: Schema): boolean {
  return isOpen(part) || Object.keys(asSchema(part['patternProperties'])).length > 0;
}

/** Whether the schema says itself that any name is allowed. One that says nothing allows the names that it lists. */
function isOpen(part: Schema): boolean {
  const rest = restOf(part);
  return rest !== undefined && rest !== false;
}

function restOf(part: Schema): unknown {
  return part['additionalProperties'] ?? part['unevaluatedProperties'];
}

function namesIn(root: Schema): string[] {
  const own = Object.keys(asSchema(root['properties']));
  const all = [...partsOf(root, root), ...branchesOf(root, root)].flatMap((part) => [
    ...Object.keys(asSchema(part['properties'])),
    ...listOf(part['required']).map(String),
  ]);
  // A wrong name among the properties of the schema itself is a mistake of the manifest, which is reported.
  return [...new Set([...own, ...all.filter((name) => INPUT_NAME.test(name))])];
}

/** The schema of one property: what holds for it in any case, or else what some alternatives say. */
function propertyOf(name: string, root: Schema): Schema {
  const inAnyCase = partsOf(root, root).flatMap((part) => schemasFor(name, part));
  if (inAnyCase.length === 1) return asSchema(inAnyCase[0]);
  if (inAnyCase.length > 1) return { allOf: inAnyCase };
  return { anyOf: branchesOf(root, root).flatMap((part) => schemasFor(name, part)) };
}

function schemasFor(name: string, part: Schema): unknown[] {
  const properties = asSchema(part['properties']);
  const found = [
    ...(Object.hasOwn(properties, name) ? [properties[name]] : []),
    ...patternsFor(name, part).map(([, schema]) => schema),
  ];
  return found.length === 0 && isOpen(part) ? [restOf(part)] : found;
}

function patternsFor(name: string, part: Schema): [string, unknown][] {
  return Object.entries(asSchema(part['patternProperties'])).filter(([pattern]) => matches(pattern, name));
}

function matches(pattern: string, name: string): boolean {
  try {
    // A pattern that may be slow is left to the checker of the schema.
    return !isQuickPattern(pattern, name.length) || new RegExp(pattern, 'u').test(name);
  } catch {
    // The manifest is refused for it.
    return false;
  }
}

function specOf(name: string, schema: unknown, root: Schema, required: boolean): InputSpec {
  const property = flat(schema, root);
  const itemType = typeOf(property['items'], root);
  const multiple =
    property['type'] === 'array' &&
    property['prefixItems'] === undefined &&
    itemType !== 'json' &&
    itemType !== 'bool';
  const one = multiple ? flat(property['items'], root) : property;
  const spec: InputSpec = {
    name,
    type: multiple ? itemType : typeOf(schema, root),
    required,
    secret: property['writeOnly'] === true,
    positional: false,
    multiple,
  };
  if (property['default'] !== undefined) spec.default = property['default'];
  if (typeof property['description'] === 'string') spec.description = property['description'];
  setLimits(spec, one);
  return spec;
}

/** A keyword of JSON Schema is only about values of its own type. What is not set here is checked by the schema. */
function setLimits(spec: InputSpec, schema: Schema): void {
  const isText = spec.type === 'string' || spec.type === 'path' || spec.type === 'url';
  const isNumber = spec.type === 'int' || spec.type === 'number' || spec.type === 'duration';
  const choices = choicesOf(schema);
  if (choices?.every(isChoice)) spec.enum = choices;
  const [min, max] = isText
    ? [schema['minLength'], schema['maxLength']]
    : isNumber
      ? [schema['minimum'], schema['maximum']]
      : [];
  if (typeof min === 'number') spec.min = min;
  if (typeof max === 'number') spec.max = max;
  if (isText && typeof schema['pattern'] === 'string') spec.pattern = schema['pattern'];
}

function isChoice(value: unknown): value is Choice {
  return value === null || typeof value !== 'object';
}

function choicesOf(schema: Schema): unknown[] | undefined {
  if (schema['const'] !== undefined) return [schema['const']];
  return Array.isArray(schema['enum']) ? schema['enum'] : undefined;
}

/** `format: path` and `format: duration` are ACOR's own; `uri` is standard JSON Schema. */
function typeOf(schema: unknown, root: Schema, known = new Map<unknown, InputType>()): InputType {
  // Alternatives may refer to each other.
  const type = known.get(schema);
  if (type !== undefined) return type;
  known.set(schema, 'json');
  const found = typeBy(flat(schema, root), root, known);
  known.set(schema, found);
  return found;
}

function typeBy(whole: Schema, root: Schema, known: Map<unknown, InputType>): InputType {
  const types: unknown[] = [whole['type']].flat();
  if (types.length > 1)
    return types.every((type) => type === 'integer' || type === 'number') ? 'number' : 'json';
  switch (types[0]) {
    case 'string': {
      const format = whole['format'];
      return format === 'uri' ? 'url' : format === 'path' || format === 'duration' ? format : 'string';
    }
    case 'integer':
      return 'int';
    case 'number':
      return 'number';
    case 'boolean':
      return 'bool';
    case undefined: {
      const alternatives = [...listOf(whole['anyOf']), ...listOf(whole['oneOf'])];
      const ofChoices = typeOfChoices(choicesOf(whole));
      return ofChoices === 'json'
        ? commonType(alternatives.map((each) => typeOf(each, root, known)))
        : ofChoices;
    }
    default:
      return 'json';
  }
}

/** A schema may leave out the type that all its choices have. */
function typeOfChoices(choices: unknown[] | undefined): InputType {
  if (choices === undefined || choices.length === 0) return 'json';
  if (choices.every((each) => typeof each === 'string')) return 'string';
  if (choices.every(Number.isInteger)) return 'int';
  return choices.every((each) => typeof each === 'number') ? 'number' : 'json';
}

function commonType(types: readonly InputType[]): InputType {
  const [first, ...others] = new Set(types);
  if (first === undefined || others.length === 0) return first ?? 'json';
  const are = (...names: InputType[]) => types.every((type) => names.includes(type));
  if (are('int', 'number')) return 'number';
  return are('string', 'path', 'url', 'duration') ? 'string' : 'json';
}

/** The keywords that hold for a value in any case; the nearest ones win. */
function flat(schema: unknown, root: Schema): Schema {
  return Object.assign({}, ...partsOf(schema, root).reverse());
}

/** A schema, and those in its references and `allOf`: a value must match all of them. */
function partsOf(schema: unknown, root: Schema, seen = new Set<unknown>()): Schema[] {
  const own = asSchema(schema);
  if (seen.has(own)) return [];
  seen.add(own);
  const others = [...referenced(own, root), ...listOf(own['allOf'])];
  return [own, ...others.flatMap((each) => partsOf(each, root, seen))];
}

/** The schemas that only some of the values must match. */
function branchesOf(schema: unknown, root: Schema, seen = new Set<unknown>()): Schema[] {
  return partsOf(schema, root).flatMap((part) => {
    if (seen.has(part)) return [];
    seen.add(part);
    const { anyOf, oneOf, if: asked, then, else: otherwise, dependentSchemas, dependencies } = part;
    const depending = [dependentSchemas, dependencies].flatMap((each) => Object.values(asSchema(each)));
    return [...listOf(anyOf), ...listOf(oneOf), asked, then, otherwise, ...depending]
      .filter((branch) => branch !== undefined)
      .flatMap((branch) => [...partsOf(branch, root), ...branchesOf(branch, root, seen)]);
  });
}

/** By whole schema, because its anchors and ids are anywhere in it. */
const referencesIn = new WeakMap<Schema, SchemaReferences>();

/** The schemas within the same schema that the references of a part name. For any others, the checker of the schema knows them. */
function referenced(part: Schema, root: Schema): object[] {
  if (part['$ref'] === undefined && part['$dynamicRef'] === undefined) return [];
  const references = referencesIn.get(root) ?? new SchemaReferences(root);
  referencesIn.set(root, references);
  const all = [...references.of(part)];
  // Which of several schemas a dynamic reference names depends on the way to it.
  const isOne = all.filter(([keyword]) => keyword === '$dynamicRef').length === 1;
  return all.flatMap(([keyword, { schema }]) => (keyword === '$ref' || isOne ? [schema] : []));
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function asSchema(value: unknown): Schema {
  return typeof value === 'object' && value !== null ? (value as Schema) : {};
}
