import * as z from 'zod';
import { mistakesBetweenKeys } from './manifest-checks.ts';
import { inputSpec } from './manifest-inputs.ts';
import { mapRule } from './manifest-map.ts';
import { type Permissions, permissionsSpec, settlePermissions } from './manifest-permissions.ts';
import { resourceLimits } from './resource-limits.ts';
import { SECRET_NAME, SECRET_NAME_RULE } from './secret-name.ts';
import { SEMVER } from './semver.ts';
import { TOOL_NAME, TOOL_NAME_RULE } from './tool-name.ts';

export type { InputType } from './input-types.ts';
export type { InputSpec } from './manifest-inputs.ts';
export type { PermissionLevel, Permissions } from './manifest-permissions.ts';

const semver = z.string().regex(SEMVER, 'must be a version such as 1.2.3');
const seconds = z.number().positive();
const count = z.int().positive();
const exitCode = z.int().min(0).max(255);
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable');
const jsonSchema = z.record(z.string(), z.unknown());
const commandLine = z.array(z.string().min(1)).min(1);

export const ADAPTERS = ['jsonl', 'plain', 'markers', 'codex', 'claude', 'gemini', 'jsonl-map'] as const;

/** What `tool.yaml` may hold (contract §5). Unknown keys are errors. */
export const manifestFile = z
  .strictObject({
    name: z
      .string()
      .regex(TOOL_NAME, TOOL_NAME_RULE)
      .optional()
      .describe("Left out, it is the folder's name."),
    version: semver.default('0.0.0'),
    description: z.string().optional(),
    category: z.string().optional(),
    entry: z.string().min(1).optional().describe("The program's file, inside the tool's folder."),
    command: commandLine.optional().describe('A program and its first arguments, instead of an entry.'),
    language: z.string().optional().describe('Left out, it is told from the entry.'),
    adapter: z.enum(ADAPTERS).default('jsonl').describe("How the tool's stdout is read."),
    output: z
      .enum(['text', 'json'])
      .default('text')
      .describe('For adapter plain: the whole of stdout is one JSON value.'),
    map: z
      .array(mapRule)
      .min(1)
      .optional()
      .describe('For adapter jsonl-map: the rules by which messages become events.'),
    role: z.enum(['leaf', 'orchestrator']).default('leaf'),
    protocol_version: count.default(1),
    min_acor_version: semver.optional(),
    inputs: z.array(inputSpec).optional(),
    input_schema: jsonSchema.optional().describe('A JSON Schema of an object, instead of inputs.'),
    output_schema: jsonSchema.optional().describe("A JSON Schema of the result's data."),
    permissions: permissionsSpec.prefault({}),
    resources: resourceLimits.prefault({}),
    env: z
      .strictObject({
        require: z.array(variable).default([]),
        allow: z.array(variable).default([]),
        set: z.record(variable, z.string()).default({}),
      })
      .prefault({}),
    secrets: z.array(z.string().regex(SECRET_NAME, SECRET_NAME_RULE)).default([]),
    timeout_s: seconds.optional(),
    heartbeat_grace_s: seconds.optional(),
    stall_s: seconds.optional(),
    max_output_size: count.optional().describe('In bytes.'),
    strict: z.boolean().default(false).describe('No result at the end is an error.'),
    exit_codes: z
      .object({
        ok: exitCode.default(0),
        retryable_error: exitCode.optional(),
        fatal_error: exitCode.optional(),
      })
      .catchall(exitCode)
      .default({ ok: 0, retryable_error: 20, fatal_error: 30 }),
    retry: z
      .strictObject({
        max_attempts: count.default(3),
        backoff_s: z.number().nonnegative().default(1),
        max_backoff_s: z.number().nonnegative().default(30),
      })
      .optional(),
    idempotent: z.boolean().default(false),
    actions: z.array(z.string().min(1)).default([]).describe('The questions that the tool may ask.'),
    effects: z.enum(['reads', 'writes', 'destroys']).optional(),
    rate_limit: z.strictObject({ calls: count, per_s: seconds }).optional(),
    health: z
      .strictObject({ selftest: z.array(z.string()).optional(), describe: z.array(z.string()).optional() })
      .optional(),
    examples: z
      .array(z.strictObject({ description: z.string().optional(), args: z.array(z.string()) }))
      .default([]),
    cost: z
      .strictObject({ per_run: z.number().nonnegative(), currency: z.string().default('USD') })
      .optional(),
  })
  .superRefine(
    (file, context) => {
      for (const { path, rule, message, fix } of mistakesBetweenKeys(file)) {
        context.addIssue({ code: 'custom', path, message, params: { rule, fix } });
      }
    },
    // Mistakes between keys are reported beside those within keys, not after they are mended.
    { when: ({ value }) => typeof value === 'object' && value !== null },
  );

export type ManifestFile = z.output<typeof manifestFile>;

/** A checked manifest: the file's keys, with the defaults of contract §3 and §5 filled in. */
export type Manifest = Omit<ManifestFile, 'name' | 'permissions'> & {
  name: string;
  permissions: Permissions;
};

/** Settles what the file left to its surroundings: the name and the level. */
export function completeManifest(file: ManifestFile, name: string): Manifest {
  return { ...file, name: file.name ?? name, permissions: settlePermissions(file.permissions) };
}
