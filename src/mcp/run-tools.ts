import type { Tool } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { OperationName } from '../operations/command-forms.ts';
import type { OfferedTool } from '../operations/tool/offered-tools.ts';
import { boundedSchema, boundedText } from './bounded-text.ts';
import { jsonSchemaOf } from './own-tools.ts';

/** A tool of this server that starts, follows or answers a run of any tool. */
interface RunTool {
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
  tool: z.string(),
  arguments: z.record(z.string(), z.unknown()).default({}).describe('As its inputSchema says.'),
  timeout: timeout.describe('Seconds until the run must end.'),
  retries: z.int().min(0).optional().describe('How often a retryable failure is retried.'),
  idempotency_key: z.string().optional().describe('Repeating a call with the same key follows its run.'),
  plan: z.string().optional().describe('The token of the reviewed dry run.'),
  review: z.boolean().default(false).describe('Hold its changes for acor_apply.'),
  snapshot: z.boolean().default(false).describe('For acor_undo.'),
  dry_run: z.boolean().default(false).describe('Only show what would run.'),
  detach: z.boolean().default(false).describe('Return at once; the run continues.'),
});

export const waitInput = z.strictObject({
  run: runId,
  timeout: timeout.describe('Seconds to wait (45); the run continues after them.'),
});

export const resumeInput = z.strictObject({
  run: runId,
  timeout: timeout.describe('Seconds for this attempt.'),
  force: z.boolean().default(false).describe('Also rerun an interrupted tool that is not idempotent.'),
});

export const answerInput = z.strictObject({
  run: runId,
  action_id: z.string().optional().describe('The question; optional when only one is open.'),
  choice: z.string().optional().describe('The id of an option.'),
  value: z.unknown().optional().describe('Any JSON value, when there are no options.'),
  reason: z.string().optional(),
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
    description: 'Resume a run that failed, was cancelled or lost its supervisor, from its checkpoints.',
    input: resumeInput,
    annotations: UNKNOWN_EFFECTS,
  },
  {
    name: 'acor_run',
    operation: 'run.start',
    without: ['args', 'stream', 'exit_code', 'answer', 'answers'],
    description: 'Run any tool of this project by its name: dry run, deadline, retries, detached.',
    input: runInput,
    annotations: UNKNOWN_EFFECTS,
  },
  {
    name: 'acor_wait',
    operation: 'run.wait',
    without: ['until'],
    description: 'Wait until a run ends or asks a question, and get its result in the form of a tool call.',
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

const MAX_DESCRIPTION_CHARS = 1000;

/** The entry of a project's tool in `tools/list`. */
export function toolDefinition(tool: OfferedTool): Tool {
  const { name, description, effects, inputSchema, outputSchema } = tool;
  return {
    name,
    description: boundedText(description, MAX_DESCRIPTION_CHARS) || `Runs the tool ${name}.`,
    inputSchema: boundedSchema(inputSchema) as Tool['inputSchema'],
    outputSchema: runSchema(outputSchema) as NonNullable<Tool['outputSchema']>,
    annotations: {
      readOnlyHint: effects.readsOnly,
      destructiveHint: effects.mayDestroy,
      idempotentHint: effects.idempotent,
      openWorldHint: effects.reachesOut,
    },
  };
}

const text = { type: 'string' };

const object = { type: 'object' };
const list = { type: 'array', items: object };

/**
 * The output schema of a tool call. Every answer fits it: a result, a question, a failure, and a refusal before the start,
 * which has no run. Some clients check errors too.
 */
function runSchema(data: OfferedTool['outputSchema']): Record<string, unknown> {
  return {
    type: 'object',
    properties: {
      run_id: text,
      tool: text,
      state: text,
      status: text,
      ...(data !== undefined && !hasReferences(data) && { data: boundedSchema(data) }),
      metrics: object,
      artifacts: list,
      questions: list,
      warnings: { type: 'array', items: text },
      progress: object,
      error: object,
      live_runs: { type: 'array', items: text },
      next: list,
    },
  };
}

/** References are relative to the root of a schema, and this schema is now nested. */
function hasReferences(schema: OfferedTool['outputSchema']): boolean {
  return schema !== undefined && /"\$(?:ref|dynamicRef|id|anchor)"/.test(JSON.stringify(schema));
}
