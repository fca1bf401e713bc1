import * as z from 'zod';
import { INPUT_NAME, INPUT_NAME_RULE } from './input-types.ts';
import { namedInput } from './manifest-inputs.ts';

/** The form of a step's name: any text of one line, as in seed 000. It becomes a task id, and a name in expressions. */
export const STEP_NAME = /^(?!__proto__$)(?!\s)[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,100}(?<!\s)$/u;

export const STEP_NAME_RULE = 'must be 1 to 100 visible characters on one line';

/** The form of a workflow's name: it becomes the `workflow:<name>` of its runs. */
export const WORKFLOW_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export const WORKFLOW_NAME_RULE =
  'must start with a letter or digit, then at most 63 letters, digits, ., _ or -';

/** Larger files are rejected before they are read; this size allows some 10,000 steps. */
export const MAX_WORKFLOW_BYTES = 4 * 1024 * 1024;

/** The maximum number of steps of a workflow, including `finally`. */
export const MOST_STEPS = 10_000;

/** The maximum nesting of workflows. */
export const MOST_NESTED_WORKFLOWS = 8;

/** The default and the maximum number of items of a `foreach`. */
export const DEFAULT_MAX_ITEMS = 1000;
export const MOST_ITEMS = 10_000;

/** The default number of concurrent steps. */
export const DEFAULT_MAX_CONCURRENCY = 4;

const ERROR_POLICIES = ['fail', 'continue', 'ask'] as const;

const stepName = z.string().regex(STEP_NAME, STEP_NAME_RULE);
const seconds = z.number().positive();
const count = z.int().positive();
const commandLine = z.string().min(1).describe('A tool and its arguments, as a shell would split them.');
const template = z.string().describe('May contain ${…}: an expression.');
/** A value in which every text may contain expressions. */
const value = z.unknown().describe('Texts in it may contain ${…}: an expression.');
const values = z.record(z.string(), value);
/** Arguments by input name, or as words. */
const args = z
  .union(
    [values, z.array(z.union([z.string(), z.number(), z.boolean()]))],
    'must be a map of values by input name, or a list of words',
  )
  .describe('Values by input name, or words as on a command line.');

const retry = z.strictObject({
  max: z.int().min(0).describe('Retries after the first try.'),
  on: z
    .array(z.string().min(1))
    .min(1)
    .default(['retryable'])
    .describe('Error classes (retryable, infra_error …) or codes (E_…).'),
  backoff_s: z
    .number()
    .nonnegative()
    .default(1)
    .describe('Seconds before the first retry; doubled each time.'),
});

const option = z.strictObject({
  id: z.string().min(1),
  label: z.string().optional(),
  description: z.string().optional(),
});

/** The keys that every step may have. */
const common = {
  name: stepName,
  needs: z
    .array(stepName)
    .optional()
    .describe('The steps that must end first. Defaults to the step above; an empty list starts at once.'),
  when: z
    .union([template, z.boolean()], 'must be true, false or an expression ${…}')
    .optional()
    .describe('The step is skipped unless this is true. Evaluated once, before the items of a foreach.'),
  foreach: z
    .union([template, z.array(value)], 'must be a list, or an expression ${…} that gives one')
    .optional()
    .describe('A list, or an expression whose value is one; `item` and `index` are the current element.'),
  max_items: z
    .int()
    .positive()
    .max(MOST_ITEMS)
    .optional()
    .describe(`Maximum items of a foreach; defaults to ${DEFAULT_MAX_ITEMS}.`),
  max_concurrency: count.optional().describe('Maximum number of concurrent items or tasks of this step.'),
  retry: retry.optional(),
  on_error: z.enum(ERROR_POLICIES).optional(),
  timeout_s: seconds.optional(),
  description: z.string().optional(),
};

const workOfStep = {
  type: z.enum(['tool', 'ai_decision', 'parallel', 'workflow', 'pipe']).optional(),
  tool: z.string().min(1).optional(),
  command: commandLine.optional(),
  args: args.optional(),
  decision_type: z.string().min(1).optional().describe('The `action` of the question.'),
  instruction: template.optional(),
  context: values.optional(),
  options: z.array(option).min(1).optional(),
  schema: z.record(z.string(), z.unknown()).optional().describe('A JSON Schema of the answer.'),
  default: z.unknown().optional(),
  tasks: z
    .array(z.union([commandLine, z.record(z.string(), z.unknown())], 'must be a command line or a step'))
    .min(1)
    .optional(),
  workflow: z.string().min(1).optional().describe('Another workflow: its name, or a path from this file.'),
  inputs: values.optional(),
  pipe: z.array(commandLine).min(2).optional(),
};

/** A step in the file. A separate check decides by its kind which keys may be combined. */
export const workflowStep = z.strictObject({ ...common, ...workOfStep });

/** A task of a `parallel` step that is more than a command line. Its name is optional. */
export const parallelTask = z.strictObject({ ...common, name: stepName.optional(), ...workOfStep });

/** The schema of a workflow file (contract §10). Unknown keys are errors. */
export const workflowFile = z.strictObject({
  $schema: z.string().optional(),
  name: z
    .string()
    .regex(WORKFLOW_NAME, WORKFLOW_NAME_RULE)
    .optional()
    .describe("Defaults to the file's name."),
  version: z.literal(1).default(1),
  description: z.string().optional(),
  inputs: z
    .record(z.string().regex(INPUT_NAME, INPUT_NAME_RULE), namedInput)
    .default({})
    .describe('The inputs by name, with the keys of an input in a manifest.'),
  timeout_s: seconds.optional().describe('Seconds for the whole workflow.'),
  max_concurrency: count
    .default(DEFAULT_MAX_CONCURRENCY)
    .describe('Maximum number of concurrent children, including those of sub-workflows.'),
  on_error: z.enum(ERROR_POLICIES).default('fail').describe('The default for steps.'),
  steps: z.array(workflowStep).min(1),
  finally: z.array(workflowStep).default([]).describe('Steps that run at the end, whatever the outcome.'),
  outputs: values.default({}).describe("The workflow's own result."),
});

export type WorkflowFile = z.output<typeof workflowFile>;
export type WorkflowStepFile = z.output<typeof workflowStep>;
export type ParallelTaskFile = z.output<typeof parallelTask>;
export type OnError = (typeof ERROR_POLICIES)[number];
