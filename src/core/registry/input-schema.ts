import type { InputSpec, InputType, Manifest } from '../../protocol/manifest.ts';

type Schema = Readonly<Record<string, unknown>>;

/** The inputs of a tool, from `inputs` or from a JSON Schema; undefined when it declares none. */
export function inputsOf(manifest: Manifest): readonly InputSpec[] | undefined {
  return manifest.inputs ?? (manifest.input_schema && inputsFromSchema(manifest.input_schema));
}

/** Converts the properties of a JSON Schema to inputs, so that flags, checks and help work the same way. */
export function inputsFromSchema(schema: Schema): InputSpec[] {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(asSchema(schema['properties'])).map(([name, value]) => {
    const property = asSchema(value);
    const items = asSchema(property['items']);
    const multiple = property['type'] === 'array' && typeOf(items) !== 'json' && typeOf(items) !== 'bool';
    const one = multiple ? items : property;
    const spec: InputSpec = {
      name,
      type: typeOf(one),
      required: required.includes(name),
      secret: property['writeOnly'] === true,
      positional: false,
      multiple,
    };
    if (property['default'] !== undefined) spec.default = property['default'];
    if (typeof property['description'] === 'string') spec.description = property['description'];
    const words = one['enum'];
    if (Array.isArray(words) && words.every((each) => typeof each === 'string' || typeof each === 'number')) {
      spec.enum = words;
    }
    const [min, max] =
      spec.type === 'string' ? [one['minLength'], one['maxLength']] : [one['minimum'], one['maximum']];
    if (typeof min === 'number') spec.min = min;
    if (typeof max === 'number') spec.max = max;
    if (typeof one['pattern'] === 'string') spec.pattern = one['pattern'];
    return spec;
  });
}

/** `format: path` and `format: duration` are ACOR's own; `uri` is standard JSON Schema. */
function typeOf(schema: Schema): InputType {
  switch (schema['type']) {
    case 'string': {
      const format = schema['format'];
      return format === 'uri' ? 'url' : format === 'path' || format === 'duration' ? format : 'string';
    }
    case 'integer':
      return 'int';
    case 'number':
      return 'number';
    case 'boolean':
      return 'bool';
    case undefined:
      return typeOfChoices(schema['enum']);
    default:
      return 'json';
  }
}

/** A schema may leave out the type that all its choices have. */
function typeOfChoices(choices: unknown): InputType {
  if (!Array.isArray(choices) || choices.length === 0) return 'json';
  if (choices.every((each) => typeof each === 'string')) return 'string';
  if (choices.every(Number.isInteger)) return 'int';
  return choices.every((each) => typeof each === 'number') ? 'number' : 'json';
}

function asSchema(value: unknown): Schema {
  return typeof value === 'object' && value !== null ? (value as Schema) : {};
}
