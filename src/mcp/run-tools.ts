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
  /** Parameters that are accepted, but not listed. */
  rare?: readonly string[];
  annotations: NonNullable<Tool['annotations']>;
}

const runId = z.string();
const timeout = z.number().positive().optional();
const UNKNOWN_EFFECTS = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

export const runInput = z.object({
  tool: z.string(),
  arguments: z.record(z.string(), z.unknown()).default({}),
  timeout: timeout.describe('Seconds.'),
  retries: z.int().min(0).optional(),
  idempotency_key: z.string().optional(),
  plan: z.string().optional().describe('Token of the dry run.'),
  review: z.boolean().default(false),
  snapshot: z.boolean().default(false),
  dry_run: z.boolean().default(false),
  detach: z.boolean().default(false).describe('Return at once.'),
  answers: z.record(z.string(), z.unknown()).optional(),
});

export const waitInput = z.object({
  run: runId,
  timeout: timeout.describe('Seconds (45); the run goes on.'),
});

export const resumeInput = z.object({
  run: runId,
  timeout: timeout.describe('Seconds.'),
  from: z.string().optional().describe('A step of a workflow to run again.'),
  force: z.boolean().default(false).describe('Even if its effects are unknown.'),
});

export const answerInput = z.object({
  run: runId,
  action_id: z.string().optional().describe('If several are open.'),
  choice: z.string().optional().describe('Option id.'),
  value: z.unknown().optional().describe('Without options: JSON.'),
  reason: z.string().optional(),
});

export const RUN_TOOLS: readonly RunTool[] = [
  {
    name: 'acor_answer',
    operation: 'run.answer',
    without: ['file', 'by'],
    description: 'Answer a question of a run; then call acor_wait.',
    input: answerInput,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  },
  {
    name: 'acor_resume',
    operation: 'run.resume',
    without: ['stream', 'detach', 'answer', 'answers'],
    description: 'Resume a run that failed, was cancelled or lost, from its checkpoints.',
    input: resumeInput,
    rare: ['from'],
    annotations: UNKNOWN_EFFECTS,
  },
  {
    name: 'acor_run',
    operation: 'run.start',
    without: ['args', 'stream', 'exit_code', 'answers'],
    description: 'Run any tool or workflow by name, with options.',
    input: runInput,
    rare: ['review', 'snapshot', 'answers'],
    annotations: UNKNOWN_EFFECTS,
  },
  {
    name: 'acor_wait',
    operation: 'run.wait',
    without: ['until'],
    description: 'Wait for the result or a question of a run.',
    input: waitInput,
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },
];

/** The entry of such a tool in `tools/list`. */
export function runToolDefinition({ name, description, input, rare = [], annotations }: RunTool): Tool {
  const shape = Object.entries(input.shape).filter(([key]) => !rare.includes(key));
  const listed = Object.fromEntries(shape) as z.core.$ZodShape;
  const answersWithRun = name === 'acor_wait' || name === 'acor_resume';
  return {
    name,
    description,
    inputSchema: jsonSchemaOf(z.strictObject(listed)),
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
