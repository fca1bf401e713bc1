/** The part of JSON Schema (draft 2020-12) that zod writes. */
export interface JsonSchema {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  items?: JsonSchema;
  prefixItems?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
}

/** The TypeScript type of what a schema accepts, for the given indentation. Constraints that TypeScript does not know are left out. */
export function typeOf(schema: JsonSchema, indent: string, definitions = schema.$defs ?? {}): string {
  const inner = (each: JsonSchema) => typeOf(each, indent, definitions);
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace('#/$defs/', '');
    const found = definitions[name];
    // A schema that contains itself: TypeScript needs a name for it.
    if (found === undefined || refersTo(found, schema.$ref)) return 'unknown';
    return inner(found);
  }
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ');
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) return [...new Set(options.map(inner))].join(' | ');
  if (schema.allOf !== undefined) return schema.allOf.map((each) => `(${inner(each)})`).join(' & ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => inner({ ...schema, type })).join(' | ');
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'number':
    case 'integer':
      return 'number';
    case 'array':
      return arrayOf(schema, inner);
    case 'object':
      return objectOf(schema, indent, definitions);
    default:
      return 'unknown';
  }
}

function refersTo(schema: JsonSchema, ref: string): boolean {
  return JSON.stringify(schema).includes(JSON.stringify(ref));
}

function arrayOf({ items, prefixItems }: JsonSchema, inner: (schema: JsonSchema) => string): string {
  if (prefixItems !== undefined) return `[${prefixItems.map(inner).join(', ')}]`;
  return `Array<${items === undefined ? 'unknown' : inner(items)}>`;
}

function objectOf(schema: JsonSchema, indent: string, definitions: Record<string, JsonSchema>): string {
  const { properties = {}, required = [], additionalProperties } = schema;
  const deeper = `${indent}  `;
  const members = Object.entries(properties).map(([name, member]) => {
    const isOptional = !required.includes(name);
    const about =
      member.description === undefined ? '' : `${deeper}/** ${inComment(member.description)} */\n`;
    return `${about}${deeper}${keyOf(name)}${isOptional ? '?' : ''}: ${typeOf(member, deeper, definitions)}${isOptional ? ' | undefined' : ''};\n`;
  });
  const isOpen = additionalProperties !== undefined && additionalProperties !== false;
  if (members.length === 0) {
    const others = typeof additionalProperties === 'object' ? additionalProperties : {};
    return `Record<string, ${isOpen ? typeOf(others, indent, definitions) : 'never'}>`;
  }
  return `{\n${members.join('')}${isOpen ? `${deeper}[key: string]: unknown;\n` : ''}${indent}}`;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : JSON.stringify(value);
}

function keyOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name);
}

/** A pattern of files may contain the characters that end a comment. */
function inComment(text: string): string {
  return text.replaceAll('*/', '*\\/');
}
