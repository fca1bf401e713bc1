import * as z from 'zod';
import { BoundedPattern } from './bounded-pattern.ts';
import { INPUT_NAME, INPUT_NAME_RULE, INPUT_TYPES, type InputType, isOfType } from './input-types.ts';

const ORDERED: readonly InputType[] = ['string', 'int', 'number', 'duration'];

/** One input of a tool (contract §5). `min` and `max` limit a value, or the length of a string. */
export const inputSpec = z
  .strictObject({
    name: z.string().regex(INPUT_NAME, INPUT_NAME_RULE).describe('The flag is --name, with _ written as -.'),
    type: z.enum(INPUT_TYPES).default('string').describe('The type of the value.'),
    required: z.boolean().default(false).describe('The caller must pass it.'),
    default: z.unknown().optional().describe('Passed to the tool when the caller passes no value.'),
    description: z.string().optional().describe('The purpose of the input.'),
    enum: z
      .array(z.union([z.string(), z.number()]))
      .min(1)
      .optional()
      .describe('The only values allowed.'),
    min: z.number().optional().describe('The minimum value, or length of a string.'),
    max: z.number().optional().describe('The maximum value, or length of a string.'),
    pattern: z.string().optional().describe('A regular expression that the text must match somewhere.'),
    secret: z
      .boolean()
      .default(false)
      .describe('Masked wherever arguments are shown, and redacted in the output of the tool.'),
    flag: z
      .string()
      .regex(/^--?[A-Za-z0-9][A-Za-z0-9_.-]*$/, 'must look like --name or -n')
      .optional()
      .describe("The tool's own spelling of the flag."),
    short: z
      .string()
      .regex(/^-[A-Za-z0-9]$/, 'must look like -n')
      .optional()
      .describe('A short spelling that callers may write; the tool gets the long one.'),
    joined: z
      .boolean()
      .optional()
      .describe('Passed on as one word: --name=value, or -nvalue for a single letter.'),
    positional: z.boolean().default(false).describe('Passed by position, not by a flag.'),
    multiple: z.boolean().default(false).describe('It may be repeated; the value is a list.'),
    access: z.enum(['read', 'write']).optional().describe('The access that a path argument grants.'),
    in_place: z
      .boolean()
      .optional()
      .describe(
        'The tool changes an existing file where it is, instead of a copy that replaces it at the end.',
      ),
  })
  .superRefine(reportMistakes);

/** A value that an input may be limited to; an `input_schema` also has the last two kinds. */
export type Choice = string | number | boolean | null;

export type InputSpec = Omit<z.output<typeof inputSpec>, 'enum'> & { enum?: Choice[] | undefined };

/** The input of a workflow (contract §10): its name is its key, and callers pass it only by that name. */
export const namedInput = z
  .strictObject(
    z.object(inputSpec.shape).omit({
      name: true,
      flag: true,
      short: true,
      positional: true,
      multiple: true,
      joined: true,
      access: true,
      in_place: true,
    }).shape,
  )
  .superRefine(reportMistakes);

function reportMistakes(input: InputLimits, context: z.core.$RefinementCtx): void {
  for (const mistake of inputMistakes(input)) {
    context.addIssue({
      code: 'custom',
      path: [mistake.key],
      message: mistake.message,
      params: { rule: mistake.rule, fix: mistake.fix },
    });
  }
}

type InputLimits = Pick<InputSpec, 'type' | 'min' | 'max' | 'pattern' | 'default'> &
  Partial<Pick<InputSpec, 'access' | 'in_place' | 'flag' | 'short' | 'positional' | 'multiple' | 'joined'>>;

interface KeyMistake {
  key: string;
  rule: string;
  message: string;
  fix: string;
}

function* inputMistakes(input: InputLimits): Generator<KeyMistake> {
  const { type } = input;
  if (input.access !== undefined && type !== 'path') {
    yield mistake(
      'access',
      'access-needs-path',
      `'access' requires the type path, got ${type}`,
      'Set type: path, or remove access.',
    );
  }
  if (input.in_place && input.access !== 'write') {
    yield mistake(
      'in_place',
      'in-place-needs-write',
      "'in_place' requires access: write",
      'Add access: write, or remove in_place.',
    );
  }
  if (input.flag !== undefined && input.positional) {
    yield mistake(
      'flag',
      'flag-or-positional',
      'an input has a flag or is positional, not both',
      'Remove flag or positional.',
    );
  }
  if (input.short !== undefined && input.positional) {
    yield mistake(
      'short',
      'short-needs-flag',
      "'short' requires an input with a flag",
      'Remove short or positional.',
    );
  }
  if (input.joined && input.positional) {
    yield mistake(
      'joined',
      'joined-needs-flag',
      "'joined' requires an input with a flag",
      'Remove joined or positional.',
    );
  }
  // `-z` joined to an empty value is the flag alone, and `-zfalse` reads as several flags.
  const isGlued = input.joined === true && input.flag?.length === 2;
  if (isGlued && type === 'bool' && input.default === true) {
    yield mistake(
      'joined',
      'joined-needs-flag',
      `the tool would get false as ${input.flag}false`,
      `Set flag: to a spelling with more than one letter, or remove joined: the tool then gets --no- and the name.`,
    );
  }
  if (isGlued && type !== 'bool' && [input.default].flat().includes('')) {
    yield mistake(
      'default',
      'default-value',
      `the default is empty, and the tool would take the next word for the value of ${input.flag}`,
      'Remove the default, or give it a value.',
    );
  }
  if (type === 'bool' && (input.positional || input.multiple)) {
    yield mistake(
      input.positional ? 'positional' : 'multiple',
      'bool-is-a-flag',
      'a bool is a single flag',
      'Remove positional and multiple, or choose a different type.',
    );
  }
  for (const key of ['min', 'max'] as const) {
    if (input[key] !== undefined && !ORDERED.includes(type)) {
      yield mistake(
        key,
        'bound-needs-order',
        `'${key}' does not apply to the type ${type}`,
        `Use it with ${ORDERED.join(', ')}.`,
      );
    }
  }
  if (input.min !== undefined && input.max !== undefined && input.min > input.max) {
    yield mistake('max', 'min-above-max', `max ${input.max} is below min ${input.min}`, 'Swap the two.');
  }
  const unusable = input.pattern === undefined ? undefined : whyNoPattern(input.pattern);
  if (unusable !== undefined) {
    yield mistake(
      'pattern',
      'pattern',
      `'${input.pattern}' is not a usable regular expression: ${unusable}`,
      'Fix the pattern; it is a JavaScript regular expression.',
    );
  }
  if (input.default !== undefined && !isDefault(input)) {
    const wanted = input.multiple ? `a list of ${type}` : type;
    yield mistake(
      'default',
      'default-type',
      `the default ${JSON.stringify(input.default)} is not of type ${wanted}`,
      `Write a default of type ${wanted}, or change the type.`,
    );
  }
}

function isDefault(input: InputLimits): boolean {
  if (!input.multiple) return isOfType(input.type, input.default);
  return Array.isArray(input.default) && input.default.every((item) => isOfType(input.type, item));
}

function whyNoPattern(text: string): string | undefined {
  try {
    new BoundedPattern(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function mistake(key: string, rule: string, message: string, fix: string): KeyMistake {
  return { key, rule, message, fix };
}
