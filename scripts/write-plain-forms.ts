import type { z } from 'zod';
import { mainArrayOf } from '../src/compose/output-shape.ts';
import { type Parameter, parametersOf } from '../src/compose/parameters.ts';
import type { PlainForm, PlainParameter } from '../src/compose/plain-command.ts';
import { ROUTES } from '../src/operations/index.ts';
import { writeGenerated } from './write-generated.ts';

// Writes src/operations/plain-forms.ts from the operations that have a plain command. With --check it writes nothing, and exits 1 when the
// file is stale.

/** What most parameters have. */
const MOST: Omit<PlainParameter, 'key' | 'flag'> = {
  kind: 'string',
  isArray: false,
  isRequired: false,
  isPositional: false,
  enum: undefined,
  default: undefined,
  unit: undefined,
  env: undefined,
  config: undefined,
  short: undefined,
  replacement: undefined,
  isSecret: false,
  isPlain: true,
};
writeGenerated('src/operations/plain-forms.ts', await text());

async function text(): Promise<string> {
  const forms: string[] = [];
  for (const route of ROUTES.filter(({ plain }) => plain !== undefined)) {
    const op = await route.load();
    const { name, effect, readsWithout, positionals, passthrough, list, pageSize } = op;
    const parameters = parametersOf(op).map(plainParameter);
    const wrong = [
      [
        parameters.map(({ key }) => key).join() !== Object.keys(op.input.shape).join(),
        'its positionals are not its first inputs',
      ],
      [
        // Without a list by its schema, `system.version` has two arrays or none: its data has no list either.
        list === undefined && (mainArrayOf(op) ?? 'unknown') !== 'unknown',
        'its schema says which array is its list: name it',
      ],
      [
        parametersOf(op).some((each) => each.env ?? each.config ?? each.replacement),
        'an input has another source, or is deprecated',
      ],
    ].find(([is]) => is)?.[1];
    if (wrong !== undefined) throw new Error(`${name} cannot have a plain command: ${wrong}`);
    const form: PlainForm = {
      name,
      effect,
      ...given({ readsWithout, positionals, passthrough, list, pageSize }),
      parameters,
    };
    forms.push(`  get '${name}'(): PlainForm {\n    return ${sourceOf(form, '    ')};\n  },\n`);
  }
  return `// Written by scripts/write-plain-forms.ts.
import type { PlainForm, PlainParameter } from '../compose/plain-command.ts';

/** What most parameters have. */
const MOST = ${sourceOf(MOST, '')} satisfies Partial<PlainParameter>;

/** The operations that have a plain command, without their schemas. Each form is made when it is asked for: a call needs one. */
export const PLAIN_FORMS = {
${forms.join('')}} satisfies Readonly<Record<string, PlainForm>>;
`;
}

function plainParameter(parameter: Parameter): PlainParameter {
  const { description: _, schema, ...form } = parameter;
  return { ...form, isPlain: isPlain(schema as z.core.$ZodTypes, form.isArray) };
}

/** Whether the schema accepts every text, switch or listed value. */
function isPlain(schema: z.core.$ZodTypes, isArray: boolean): boolean {
  const { def } = schema._zod;
  if (def.checks?.length) return false;
  switch (def.type) {
    case 'optional':
    case 'default':
      return isPlain(def.innerType as z.core.$ZodTypes, isArray);
    case 'array':
      return isArray && isPlain(def.element as z.core.$ZodTypes, false);
    case 'string':
      return !isArray && !('format' in def) && def.coerce !== true;
    case 'boolean':
      return !isArray && def.coerce !== true;
    case 'enum':
      return !isArray && [...(schema._zod.values ?? [])].every((value) => typeof value === 'string');
    default:
      return false;
  }
}

/** Without what is undefined. */
function given<T extends object>(facts: T): Partial<T> {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** As biome formats it, but for the length of lines. */
function sourceOf(value: unknown, indent = '  '): string {
  if (value === undefined) return 'undefined';
  if (typeof value === 'string') return `'${value.replace(/['\\]/g, '\\$&')}'`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((each) => sourceOf(each)).join(', ')}]`;
  const members = Object.entries(value).map(([key, each]) =>
    key === 'parameters'
      ? `parameters: [\n${each.map(parameterSource).join('')}${indent}  ],\n`
      : `${key}: ${sourceOf(each)},\n`,
  );
  return `{\n${members.map((member) => `${indent}  ${member}`).join('')}${indent}}`;
}

function parameterSource(parameter: PlainParameter): string {
  const own = Object.entries(parameter).filter(([key, value]) => value !== MOST[key as keyof typeof MOST]);
  return `        { ...MOST, ${own.map(([key, value]) => `${key}: ${sourceOf(value)}`).join(', ')} },\n`;
}
