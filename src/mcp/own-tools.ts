import type { Tool } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { Operation } from '../compose/operation.ts';
import type { AcorApp } from '../operations/acor-app.ts';
import type { OperationName } from '../operations/command-forms.ts';
import type { Host } from './host.ts';

/** An operation of ACOR that this server offers as a tool. */
export interface OwnTool {
  name: string;
  operation: OperationName;
  /** Parameters that make no sense here: streams, forms for people. */
  without: readonly string[];
  /** Parameters that are accepted, but not listed: rarely needed, and each costs every model its context. */
  rare?: readonly string[];
  /** Its list may be long, and is cut. */
  pages?: true;
  /** Only offered when there are too many project tools to list. */
  onlyForMany?: true;
  /** Only listed where runs may have a layer or a snapshot by themselves; a next step may always name it. */
  onlyWhereKept?: true;
}

export const OWN_TOOLS: readonly OwnTool[] = [
  { name: 'acor_apply', operation: 'run.apply', without: [], onlyWhereKept: true },
  { name: 'acor_artifact_read', operation: 'run.artifact', without: [] },
  {
    name: 'acor_cancel',
    operation: 'run.cancel',
    without: ['dry_run'],
  },
  { name: 'acor_describe', operation: 'tool.describe', without: [], onlyForMany: true },
  { name: 'acor_diff', operation: 'run.diff', without: [], pages: true, onlyWhereKept: true },
  { name: 'acor_discard', operation: 'run.discard', without: [], onlyWhereKept: true },
  {
    name: 'acor_explain',
    operation: 'system.explain',
    without: ['format', 'protocol_version'],
    rare: ['include_examples'],
  },
  { name: 'acor_health', operation: 'system.health', without: ['format', 'dry_run'] },
  { name: 'acor_logs', operation: 'run.logs', without: ['follow', 'format'], rare: ['offset'], pages: true },
  {
    name: 'acor_runs',
    operation: 'run.list',
    without: [],
    rare: ['kind', 'caller', 'parent', 'created_after', 'created_before'],
    pages: true,
  },
  { name: 'acor_search', operation: 'tool.list', without: ['format'], onlyForMany: true, pages: true },
  { name: 'acor_show', operation: 'run.show', without: [] },
  { name: 'acor_undo', operation: 'run.undo', without: [], onlyWhereKept: true },
];

const LIST_LIMIT = 50;

/** The length at which a list is cut: a model's context is small. */
export const PAGE = {
  limit: z.int().min(0).default(LIST_LIMIT).describe('At most this many.'),
  offset: z.int().min(0).default(0).describe('Skip this many.'),
};

/**
 * The entry of an operation in `tools/list`, generated from the registry. It has no output schema, to save a model's
 * context; `acor tools` shows it.
 */
export async function ownDefinition(host: Host, own: OwnTool): Promise<Tool> {
  const op = await host.load(own.operation);
  return {
    name: own.name,
    description: op.summary,
    inputSchema: jsonSchemaOf(inputOf(op, own)),
    annotations: {
      readOnlyHint: op.effect === 'reads',
      destructiveHint: op.effect === 'destroys',
      idempotentHint: op.idempotent,
      openWorldHint: false,
    },
  };
}

/** The schema of an input for MCP, in few words: draft 2020-12 is implied, and a call is checked here against the whole. */
export function jsonSchemaOf(schema: z.ZodType): Tool['inputSchema'] {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override({ jsonSchema, path }) {
      // Every tool with this parameter means the id of a run.
      if (path.at(-1) === 'run') delete jsonSchema.description;
      for (const key of ['additionalProperties', 'propertyNames', 'minimum', 'exclusiveMinimum'] as const)
        delete jsonSchema[key];
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (isEmpty(jsonSchema.default)) delete jsonSchema.default;
    },
  });
  return rest as Tool['inputSchema'];
}

/** A default that a model expects anyway. */
function isEmpty(value: unknown): boolean {
  return value === false || value === 0 || ['[]', '{}'].includes(JSON.stringify(value));
}

function inputOf(op: Operation<AcorApp>, own: OwnTool): z.ZodType {
  const shape = Object.entries(op.input.shape).filter(
    ([key]) => !own.without.includes(key) && own.rare?.includes(key) !== true,
  );
  return z.strictObject({ ...Object.fromEntries(shape), ...(own.pages && PAGE) });
}
