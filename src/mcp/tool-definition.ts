import type { Tool } from '@modelcontextprotocol/server';
import type { OfferedTool } from '../operations/tool/offered-tools.ts';
import { boundedSchema, boundedText } from './bounded-text.ts';

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

/** The output schema of a tool call, for a run that has ended or that waits for an answer. */
export function runSchema(data: OfferedTool['outputSchema']): Record<string, unknown> {
  return {
    type: 'object',
    properties: {
      run_id: text,
      tool: text,
      state: { enum: ['completed', 'waiting_ai', 'failed', 'cancelled', 'running', 'queued'] },
      ...(hasReferences(data) ? {} : { data: data === undefined ? {} : boundedSchema(data) }),
      artifacts: {
        type: 'array',
        items: {
          type: 'object',
          properties: { uri: text, path: text, media_type: text, size: { type: 'integer' }, sha256: text },
        },
      },
      questions: {
        type: 'array',
        description: 'What the run waits for. Answer with acor_answer, then acor_wait.',
        items: { type: 'object' },
      },
      next: { type: 'array', description: 'Calls that lead on.', items: { type: 'object' } },
    },
    required: ['run_id', 'state'],
  };
}

/** References are relative to the root of a schema, and this schema is now nested. */
function hasReferences(schema: OfferedTool['outputSchema']): boolean {
  return schema !== undefined && /"\$(?:ref|dynamicRef|id|anchor)"/.test(JSON.stringify(schema));
}
