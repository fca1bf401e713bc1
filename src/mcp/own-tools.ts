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
  /** In fewer words than for a shell, since every model reads it: the tool, and its parameters. */
  words?: { tool?: string; parameters?: Readonly<Record<string, string>> };
  /** Its list may be long, and is cut. */
  pages?: true;
  /** Only offered when there are too many project tools to list. */
  onlyForMany?: true;
  /** Only listed where runs may have a layer or a snapshot by themselves; a next step may always name it. */
  onlyWhereKept?: true;
}

export const OWN_TOOLS: readonly OwnTool[] = [
  {
    name: 'acor_apply',
    operation: 'run.apply',
    without: [],
    rare: ['dry_run'],
    onlyWhereKept: true,
    words: { tool: 'Put held changes in place.', parameters: { paths: '' } },
  },
  {
    name: 'acor_artifact_read',
    operation: 'run.artifact',
    without: [],
    rare: ['from', 'bytes'],
    words: { tool: 'Read an artifact.', parameters: { artifact: 'Path or number.' } },
  },
  {
    name: 'acor_cancel',
    operation: 'run.cancel',
    without: ['dry_run'],
    rare: ['reason'],
    words: { tool: 'Cancel a run, and wait for its end.' },
  },
  { name: 'acor_describe', operation: 'tool.describe', without: [], onlyForMany: true },
  {
    name: 'acor_diff',
    operation: 'run.diff',
    without: [],
    rare: ['stat', 'offset', 'limit'],
    pages: true,
    onlyWhereKept: true,
    words: { tool: 'Show held changes.' },
  },
  {
    name: 'acor_discard',
    operation: 'run.discard',
    without: [],
    rare: ['dry_run'],
    onlyWhereKept: true,
    words: { tool: 'Drop held changes.' },
  },
  {
    name: 'acor_explain',
    operation: 'system.explain',
    without: ['format', 'protocol_version'],
    rare: ['include_examples'],
    words: { tool: 'How to use this project.', parameters: { topic: 'A topic or tool.' } },
  },
  {
    name: 'acor_health',
    operation: 'system.health',
    without: ['format', 'dry_run'],
    rare: ['fix', 'deep'],
    words: { tool: 'Check what runs need, with fixes.' },
  },
  {
    name: 'acor_logs',
    operation: 'run.logs',
    without: ['follow', 'format'],
    rare: ['offset', 'text'],
    pages: true,
    words: { tool: 'Read the events of a run.', parameters: { since: 'Only after this seq.', type: '' } },
  },
  {
    name: 'acor_runs',
    operation: 'run.list',
    without: [],
    rare: ['kind', 'caller', 'parent', 'top_level', 'before', 'created_after', 'created_before', 'offset'],
    pages: true,
    words: { tool: 'List runs, newest first.', parameters: { tool: '', state: '', text: '' } },
  },
  { name: 'acor_search', operation: 'tool.list', without: ['format'], onlyForMany: true, pages: true },
  { name: 'acor_show', operation: 'run.show', without: [], words: { tool: 'Show a run.' } },
  {
    name: 'acor_undo',
    operation: 'run.undo',
    without: [],
    rare: ['dry_run'],
    onlyWhereKept: true,
    words: { tool: 'Undo what a run wrote.', parameters: { paths: '' } },
  },
];

const LIST_LIMIT = 50;

/** The length at which a list is cut: a model's context is small. */
export const PAGE = {
  limit: z.int().min(0).default(LIST_LIMIT),
  offset: z.int().min(0).default(0),
  /** Estimated: the list is cut to it. */
  max_tokens: z.int().min(1).optional(),
};

/**
 * The entry of an operation in `tools/list`, generated from the registry. It has no output schema, to save a model's
 * context; `acor tools` shows it.
 */
export async function ownDefinition(host: Host, own: OwnTool): Promise<Tool> {
  const op = await host.load(own.operation);
  return {
    name: own.name,
    description: own.words?.tool ?? op.summary,
    inputSchema: jsonSchemaOf(inputOf(op, own), own.words?.parameters),
    annotations: {
      readOnlyHint: op.effect === 'reads',
      destructiveHint: op.effect === 'destroys',
      idempotentHint: op.idempotent,
      openWorldHint: false,
    },
  };
}

/** The schema of an input for MCP, in few words: draft 2020-12 is implied, and a call is checked here against the whole. */
export function jsonSchemaOf(
  schema: z.ZodType,
  words: Readonly<Record<string, string>> = {},
): Tool['inputSchema'] {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override({ jsonSchema, path }) {
      // Every tool with this parameter means the id of a run.
      if (path.at(-1) === 'run') delete jsonSchema.description;
      const said = path.length === 2 ? words[String(path[1])] : undefined;
      if (said === '') delete jsonSchema.description;
      else if (said !== undefined) jsonSchema.description = said;
      for (const key of [
        'additionalProperties',
        'propertyNames',
        'minimum',
        'exclusiveMinimum',
        'minLength',
      ] as const)
        delete jsonSchema[key];
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (isEmpty(jsonSchema.default)) delete jsonSchema.default;
    },
  });
  return rest as Tool['inputSchema'];
}

/** A default that a model expects anyway, or need not know. */
function isEmpty(value: unknown): boolean {
  return (
    [false, 0, 'last', LIST_LIMIT].includes(value as never) || ['[]', '{}'].includes(JSON.stringify(value))
  );
}

function inputOf(op: Operation<AcorApp>, own: OwnTool): z.ZodType {
  const shape = Object.entries(op.input.shape).filter(
    ([key]) => !own.without.includes(key) && own.rare?.includes(key) !== true,
  );
  const { max_tokens: _, ...page } = PAGE;
  const shown = Object.entries(own.pages ? page : {}).filter(([key]) => own.rare?.includes(key) !== true);
  return z.strictObject({ ...Object.fromEntries(shape), ...Object.fromEntries(shown) });
}
