import * as z from 'zod';
import { mistakesBetweenKeys } from './manifest-checks.ts';
import { inputSpec } from './manifest-inputs.ts';
import { mapRule } from './manifest-map.ts';
import { ownMarker } from './manifest-markers.ts';
import { errorRule, outputSpec } from './manifest-output.ts';
import { type Permissions, permissionsSpec, settlePermissions } from './manifest-permissions.ts';
import {
  injectionHosts,
  type SecretInjection,
  type SecretVariable,
  secretSpec,
  settleSecrets,
} from './manifest-secrets.ts';
import { TOOL_NAME, TOOL_NAME_RULE } from './names.ts';
import { resourceLimits } from './resource-limits.ts';
import { SEMVER } from './semver.ts';

export type { InputType } from './input-types.ts';
export type { Choice, InputSpec } from './manifest-inputs.ts';
export type { PermissionLevel, Permissions } from './manifest-permissions.ts';

const semver = z.string().regex(SEMVER, 'must be a version such as 1.2.3');
const seconds = z.number().positive();
const count = z.int().positive();
const exitCode = z.int().min(0).max(255);
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable');
const jsonSchema = z.record(z.string(), z.unknown());
const commandLine = z.array(z.string().min(1)).min(1);

export const ADAPTERS = [
  'jsonl',
  'plain',
  'markers',
  'codex',
  'claude',
  'gemini',
  'jsonl-map',
  'text-map',
] as const;

/** The schema of `tool.yaml` (contract §5). Unknown keys are errors. */
export const manifestFile = z
  .strictObject({
    name: z.string().regex(TOOL_NAME, TOOL_NAME_RULE).optional().describe("Defaults to the folder's name."),
    version: semver.default('0.0.0').describe('The version of the tool, such as 1.2.3.'),
    description: z.string().optional().describe('What the tool does; agents choose tools by this text.'),
    category: z.string().optional().describe('Groups tools in lists.'),
    entry: z.string().min(1).optional().describe("The program's file, inside the tool's folder."),
    command: commandLine.optional().describe('A program and its first arguments, instead of an entry.'),
    language: z.string().optional().describe('Defaults to the language of the entry.'),
    adapter: z.enum(ADAPTERS).default('jsonl').describe("How the tool's stdout is read."),
    output: outputSpec
      .default('text')
      .describe(
        "For adapter plain: the form of the text, which becomes the result's data. `records`: in a pipe, the tool has the records that it emits alone.",
      ),
    errors: z
      .array(errorRule)
      .min(1)
      .optional()
      .describe(
        'Failures of a program by exit code and by lines on stderr: the first rule that matches applies.',
      ),
    map: z
      .array(mapRule)
      .min(1)
      .optional()
      .describe(
        'For the adapters jsonl-map and text-map: the rules that convert messages or lines to events.',
      ),
    markers: z
      .array(ownMarker)
      .optional()
      .describe('For the adapter markers: further markers of the program. Each becomes a log with its text.'),
    from: z
      .enum(['stdout', 'stderr', 'both'])
      .default('stdout')
      .describe('The stream that the rules of map read.'),
    stdin: z
      .enum(['records'])
      .optional()
      .describe('In a pipe, stdin contains the records of the tool before it as JSON Lines.'),
    role: z
      .enum(['leaf', 'orchestrator'])
      .default('leaf')
      .describe('An orchestrator runs other tools and may report their tasks.'),
    protocol_version: count.default(1).describe('The wire protocol version of the tool.'),
    min_acor_version: semver.optional().describe('The minimum version of ACOR.'),
    inputs: z
      .array(inputSpec)
      .optional()
      .describe('The arguments. Without it, ACOR passes arguments unchecked.'),
    input_schema: jsonSchema.optional().describe('A JSON Schema of an object, instead of inputs.'),
    output_schema: jsonSchema
      .optional()
      .describe("A JSON Schema of the result's data. Other data is a warning, and with strict a failure."),
    extra_args: z
      .boolean()
      .default(false)
      .describe('Flags and words that inputs do not declare are passed on as they are.'),
    cwd: z
      .enum(['workspace', 'project'])
      .default('workspace')
      .describe('Where the tool starts. In the project it may read all of its files.'),
    permissions: permissionsSpec.prefault({}).describe('Permissions beyond its workspace.'),
    resources: resourceLimits.prefault({}).describe('Limits on all its processes together.'),
    env: z
      .strictObject({
        require: z
          .array(variable)
          .default([])
          .describe('Required variables; without them the tool does not start.'),
        allow: z.array(variable).default([]).describe('Passed if they are set.'),
        set: z.record(variable, z.string()).default({}).describe('Variables with fixed values.'),
      })
      .prefault({})
      .describe('Environment variables beyond the base list.'),
    secrets: z
      .array(secretSpec)
      .default([])
      .describe('Secrets that the tool gets as files or in a variable, or that are put into its requests.'),
    timeout_s: seconds.optional().describe('Seconds until a run is stopped.'),
    heartbeat_grace_s: seconds.optional().describe('Seconds of silence until a run is stopped.'),
    stall_s: seconds.optional().describe('Seconds without progress until a warning.'),
    max_output_size: count.optional().describe('In bytes.'),
    strict: z.boolean().default(false).describe('A run without a result is an error.'),
    exit_codes: z
      .object({
        ok: exitCode.default(0).describe('Success.'),
        retryable_error: exitCode.optional().describe('A failure that a retry may fix.'),
        fatal_error: exitCode.optional().describe('A failure that a retry cannot fix.'),
      })
      .catchall(exitCode)
      .default({ ok: 0, retryable_error: 20, fatal_error: 30 })
      .describe('The exit codes of the tool: a name and a number for each outcome.'),
    retry: z
      .strictObject({
        max_attempts: count.default(3).describe('Attempts, including the first.'),
        backoff_s: z
          .number()
          .nonnegative()
          .default(1)
          .describe('Seconds before the first retry; doubled each time.'),
        max_backoff_s: z.number().nonnegative().default(30).describe('Maximum seconds between two attempts.'),
      })
      .optional()
      .describe('How retryable failures are retried.'),
    idempotent: z.boolean().default(false).describe('Repeating a run is harmless.'),
    warm: z.boolean().default(false).describe('The interpreter of the next run starts before it.'),
    actions: z.array(z.string().min(1)).default([]).describe('The questions that the tool may ask.'),
    requires: z
      .array(z.enum(['elicitation', 'sampling', 'roots']))
      .min(1)
      .optional()
      .describe('What an MCP client must offer, so that it can answer the questions of the tool itself.'),
    effects: z
      .enum(['reads', 'writes', 'destroys'])
      .optional()
      .describe('What a call changes outside of its workspace.'),
    rate_limit: z
      .strictObject({
        calls: count.describe('The number of calls'),
        per_s: seconds.describe('in this many seconds.'),
      })
      .optional()
      .describe('The rate limit of the tool.'),
    health: z
      .strictObject({
        selftest: z
          .array(z.string())
          .optional()
          .describe('Arguments of the self-test; exit code 0 means success.'),
        describe: z
          .array(z.string())
          .optional()
          .meta({ deprecated: true, description: 'Has no effect: ACOR reads the manifest.' }),
      })
      .optional()
      .describe('The self-test.'),
    examples: z
      .array(
        z.strictObject({
          description: z.string().optional().describe('The purpose of the call.'),
          args: z.array(z.string()).describe('The arguments as words.'),
        }),
      )
      .default([])
      .describe('Example calls.'),
    cost: z
      .strictObject({
        per_run: z.number().nonnegative().describe('The approximate cost of one run.'),
        currency: z.string().default('USD').describe('For example USD.'),
      })
      .optional()
      .describe('The approximate cost of one run. In US dollars it counts for runs that report none.'),
  })
  .superRefine(
    (file, context) => {
      for (const { path, rule, message, fix } of mistakesBetweenKeys(file)) {
        context.addIssue({ code: 'custom', path, message, params: { rule, fix } });
      }
    },
    // Problems between keys are reported together with those within keys, not only after these are fixed.
    { when: ({ value }) => typeof value === 'object' && value !== null && !Array.isArray(value) },
  );

export type ManifestFile = z.output<typeof manifestFile>;

/** A validated manifest with the defaults of contract §3 and §5. */
export type Manifest = Omit<ManifestFile, 'name' | 'permissions' | 'secrets'> & {
  name: string;
  /** The names of all secrets. */
  secrets: string[];
  /** The secrets that the tool gets in a variable. */
  secret_variables?: SecretVariable[];
  /** The secrets that the tool does not get. */
  secret_injections?: SecretInjection[];
  permissions: Permissions;
};

/** Sets what depends on the surroundings: the name and the level. */
export function completeManifest(file: ManifestFile, name: string): Manifest {
  const hosts = injectionHosts(file.secrets);
  return {
    ...file,
    name: file.name ?? name,
    permissions: settlePermissions(file.permissions, { cwd: file.cwd, hosts }),
    ...settleSecrets(file.secrets),
  };
}
