import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { catalogSchema } from '../src/compose/catalog.ts';
import { envelopeSchema } from '../src/compose/envelope-schema.ts';
import { errorsSchema } from '../src/compose/error-row.ts';
import { healthReport } from '../src/compose/health-shape.ts';
import { auditShape } from '../src/operations/compose/compose-audit.ts';
import { configFile } from '../src/protocol/config-file.ts';
import { errorCodesFile } from '../src/protocol/error-codes-file.ts';
import { manifestFile } from '../src/protocol/manifest.ts';
import { policyFile } from '../src/protocol/policy-file.ts';
import { envelope } from '../src/protocol/v1/envelope.ts';
import { RUNNER_EVENTS } from '../src/protocol/v1/runner-events.ts';
import { TASK_MESSAGES, TOOL_MESSAGES } from '../src/protocol/v1/tool-messages.ts';
import { versionFile } from '../src/protocol/version-file.ts';
import { workflowFile } from '../src/protocol/workflow-file.ts';
import { type JsonSchema, withVariables } from './variables-in-schema.ts';

// Writes schemas/ from the zod schemas. With --check it writes nothing, and exits 1 naming what is stale.

const FOLDER = fileURLToPath(new URL('../schemas/', import.meta.url));
const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';

const SCHEMAS: Readonly<Record<string, () => JsonSchema>> = {
  'message-v1.schema.json': () =>
    oneOfTypes(
      'ACOR protocol v1: message of a tool',
      'One line that a tool writes on stdout. The task_* types are for tools with `role: orchestrator` only. The runner fills in ' +
        'a missing v, ts or run_id, and keeps unknown fields. It keeps unknown types as well, which this schema refuses.',
      definitionsOf({ ...TOOL_MESSAGES, ...TASK_MESSAGES }),
    ),
  'event-v1.schema.json': () =>
    oneOfTypes(
      'ACOR protocol v1: stored event',
      'One line of events.jsonl: a message of the tool or an event of the runner, numbered by seq. Types that this version ' +
        'does not know are kept.',
      storedDefinitions(),
    ),
  'manifest.schema.json': () =>
    fileSchema(manifestFile, 'ACOR manifest (tool.yaml)', 'What a tool is, takes, may do and promises.'),
  'policy.schema.json': () =>
    fileSchema(
      policyFile,
      'ACOR policy (policy.yaml)',
      'What tools may ask for. The files of the system, the user and the project hold together: none can widen another.',
    ),
  'config.schema.json': () =>
    withVariables(
      fileSchema(
        configFile,
        'ACOR configuration (.acor/config.yaml)',
        'The settings of a project; all of them may be left out. Values may hold ${VAR} and ${VAR:-default}.',
      ),
    ),
  'error-codes.schema.json': () =>
    fileSchema(
      errorCodesFile,
      'ACOR error codes (error_codes.yaml)',
      'Error codes of a project, beside the built-in ones.',
    ),
  'workflow.schema.json': () =>
    fileSchema(
      workflowFile,
      'ACOR workflow (.acor/workflows/*.yaml)',
      'Steps in their order: tools, decisions, other workflows. Texts may hold expressions, ${…}.',
    ),
  'envelope.schema.json': () =>
    fileSchema(envelopeSchema, 'Envelope', 'The answer of a command, one line of JSON on stdout.'),
  'catalog.schema.json': () =>
    fileSchema(catalogSchema, 'Catalog', 'The data of `tools`, or of `tools` with a name.'),
  'health.schema.json': () => fileSchema(healthReport, 'Health', 'The data of `health`.'),
  'errors.schema.json': () => fileSchema(errorsSchema, 'Error codes', 'The data of `errors`.'),
  'audit.schema.json': () =>
    fileSchema(auditShape, 'Audit of a command line', 'The data of `acor compose audit`.'),
  'version.schema.json': () =>
    fileSchema(
      versionFile,
      'ACOR project version (.acor/version.json)',
      'Which ACOR made a project, and by which shapes.',
    ),
};

const stale = process.argv.includes('--check') ? staleFiles() : writeFiles();
if (stale.length > 0) {
  for (const problem of stale) process.stderr.write(`schemas/${problem}\n`);
  process.stderr.write('Write them again: node_modules/.bin/bun scripts/write-schemas.ts\n');
  process.exitCode = 1;
}

function staleFiles(): string[] {
  const wrong = Object.entries(SCHEMAS).flatMap(([file, schema]) => {
    const text = readText(file);
    if (text === undefined) return [`${file} is missing`];
    return text === textOf(file, schema()) ? [] : [`${file} is stale`];
  });
  const unknown = listFolder().filter((file) => !Object.hasOwn(SCHEMAS, file));
  return [...wrong, ...unknown.map((file) => `${file} is not written by this script`)];
}

function writeFiles(): string[] {
  mkdirSync(FOLDER, { recursive: true });
  for (const [file, schema] of Object.entries(SCHEMAS)) {
    const text = textOf(file, schema());
    if (readText(file) !== text) writeFileSync(FOLDER + file, text);
  }
  return [];
}

function oneOfTypes(title: string, description: string, definitions: Record<string, JsonSchema>): JsonSchema {
  return {
    $schema: DRAFT_07,
    title,
    description,
    type: 'object',
    required: ['type'],
    oneOf: Object.keys(definitions).map((type) => ({ $ref: `#/definitions/${type}` })),
    definitions,
  };
}

function storedDefinitions(): Record<string, JsonSchema> {
  const known = definitionsOf({ ...TOOL_MESSAGES, ...TASK_MESSAGES, ...RUNNER_EVENTS });
  const unknown = definitionOf(envelope);
  unknown.properties = {
    ...unknown.properties,
    type: { ...unknown.properties?.['type'], not: { enum: Object.keys(known) } },
  };
  const stored = Object.entries({ ...known, unknown }).map(([type, schema]) => {
    return [type, { ...schema, required: [...(schema.required ?? []), 'seq'] }];
  });
  return Object.fromEntries(stored);
}

function definitionsOf(schemas: Readonly<Record<string, z.ZodType>>): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(schemas).map(([type, schema]) => [type, definitionOf(schema)]));
}

function definitionOf(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...definition } = toJsonSchema(schema);
  return definition;
}

function fileSchema(schema: z.ZodType, title: string, description: string): JsonSchema {
  const { $schema, ...rest } = toJsonSchema(schema);
  return { $schema, title, description, ...rest };
}

function toJsonSchema(schema: z.ZodType): JsonSchema {
  // As a file is written, before defaults are filled in.
  return z.toJSONSchema(schema, { target: 'draft-7', io: 'input' }) as JsonSchema;
}

/** The name of a schema is not an address, so that no editor fetches it: the modeline names the file. */
function textOf(file: string, { $schema, ...rest }: JsonSchema): string {
  const $id = `urn:acor:schema:${file.replace('.schema.json', '')}`;
  return `${JSON.stringify({ $schema, $id, ...rest }, null, 2)}\n`;
}

function readText(file: string): string | undefined {
  return listFolder().includes(file) ? readFileSync(FOLDER + file, 'utf8') : undefined;
}

function listFolder(): string[] {
  return existsSync(FOLDER) ? readdirSync(FOLDER) : [];
}
