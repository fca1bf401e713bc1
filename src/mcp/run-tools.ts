import type { Tool } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { OperationName } from '../operations/command-forms.ts';
import { jsonSchemaOf } from './own-tools.ts';
import { runSchema } from './tool-definition.ts';

/** A tool of this server that starts, follows or answers a run of any tool. */
export interface RunTool {
  name: 'acor_run' | 'acor_wait' | 'acor_resume' | 'acor_answer';
  operation: OperationName;
  without: readonly string[];
  description: string;
  input: z.ZodObject;
  annotations: NonNullable<Tool['annotations']>;
}

const runId = z.string().describe('The id of the run.');
const timeout = z.number().positive().optional();
const UNKNOWN_EFFECTS = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

export const runInput = z.strictObject({
  tool: z.string().describe('The tool to run.'),
  arguments: z
    .record(z.string(), z.unknown())
    .default({})
    .describe('Its inputs, as its inputSchema has them.'),
  timeout: timeout.describe('Seconds until the deadline of the whole run.'),
  retries: z.int().min(0).optional().describe('How many more times a retryable failure is tried.'),
  idempotency_key: z
    .string()
    .optional()
    .describe(
      'Names this very call: given again, the run that it has started is followed instead of a second one.',
    ),
  plan: z.string().optional().describe('The token of the dry run that was looked at.'),
  dry_run: z.boolean().default(false).describe('Show what would run, and start nothing.'),
  detach: z.boolean().default(false).describe('Give back the id at once; the run goes on.'),
});

export const waitInput = z.strictObject({
  run: runId,
  timeout: timeout.describe('Give up waiting after so many seconds, 45 if not given; the run goes on.'),
});

export const resumeInput = z.strictObject({
  run: runId,
  timeout: timeout.describe('Seconds until the deadline of this attempt.'),
  force: z
    .boolean()
    .default(false)
    .describe('Also when the tool was stopped mid-way and is not idempotent: what it did may be done twice.'),
});

export const answerInput = z.strictObject({
  run: runId,
  action_id: z.string().optional().describe('The question; may be left out when only one is open.'),
  choice: z.string().optional().describe('The id of one of the options.'),
  value: z.unknown().optional().describe('The answer, any JSON value, where there are no options.'),
  reason: z.string().optional().describe('Why; it is recorded with the answer.'),
});

export const RUN_TOOLS: readonly RunTool[] = [
  {
    name: 'acor_answer',
    operation: 'run.answer',
    without: ['file', 'by'],
    description: 'Answer a question of a run that waits (state waiting_ai); then call acor_wait.',
    input: answerInput,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  },
  {
    name: 'acor_resume',
    operation: 'run.resume',
    without: ['stream', 'detach', 'answer', 'answers'],
    description: 'Go on with a run that failed, was cancelled or lost its supervisor, from its checkpoints.',
    input: resumeInput,
    annotations: UNKNOWN_EFFECTS,
  },
  {
    name: 'acor_run',
    operation: 'run.start',
    without: ['args', 'stream', 'exit_code', 'answer', 'answers'],
    description:
      'Run any tool of this project by its name, with options: dry run, deadline, retries, idempotency key, detached.',
    input: runInput,
    annotations: UNKNOWN_EFFECTS,
  },
  {
    name: 'acor_wait',
    operation: 'run.wait',
    without: ['until'],
    description:
      'Wait until a run ends or asks something, and get its result as if its tool had just been called.',
    input: waitInput,
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },
];

/** The entry of such a tool in `tools/list`. */
export function runToolDefinition({ name, description, input, annotations }: RunTool): Tool {
  const answersWithRun = name === 'acor_wait' || name === 'acor_resume';
  return {
    name,
    description,
    inputSchema: jsonSchemaOf(input),
    ...(answersWithRun && { outputSchema: runSchema(undefined) as NonNullable<Tool['outputSchema']> }),
    annotations,
  };
}
