import * as z from 'zod';

/** The name of a prompt, which is that of its file: a client shows it as a command. */
export const PROMPT_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
/** A placeholder for an argument. */
export const PLACEHOLDER = /\{\{ *([A-Za-z_][A-Za-z0-9_-]*) *\}\}/g;

const argument = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_-]*$/, 'must be a word of letters, digits, _ and -')
    .describe('The text of the prompt holds it as {{name}}.'),
  description: z.string().optional().describe('What it is for.'),
  required: z.boolean().default(false).describe('Without a value there is no prompt.'),
  values: z.array(z.string()).optional().describe('Values that clients offer.'),
  ask: z
    .string()
    .min(1)
    .optional()
    .describe('The question to the user when the client gives no value, where the client has forms.'),
});

/** The front matter of `.acor/prompts/<name>.md`. Unknown keys are errors. */
export const promptFile = z.strictObject({
  title: z.string().optional().describe('For people.'),
  description: z.string().optional().describe('What the prompt is for.'),
  arguments: z.array(argument).default([]).describe('What the text needs.'),
});

export type PromptFile = z.output<typeof promptFile>;
