import * as z from 'zod';
import { configDefaults } from './config-defaults.ts';
import { httpAddress } from './http-address.ts';
import { PLUGIN_FILE, pluginName, SECRET_NAME, SECRET_NAME_RULE, whyDenied } from './names.ts';
import { receiver } from './notify-config.ts';
import { publishedResource } from './published-resource.ts';
import { resourceLimits } from './resource-limits.ts';
import { SEMVER } from './semver.ts';
import { WRITE_MODES } from './write-modes.ts';

const DEFAULTS = configDefaults();

const folder = z
  .string()
  .min(1)
  .refine((text) => !text.includes('\0'), 'must not hold a NUL byte');
const seconds = z.number().positive();
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable');

const project = z.strictObject({
  name: z.string().min(1).optional().describe("Defaults to the folder's name."),
  tools_dirs: z
    .array(folder)
    .default(DEFAULTS.project.tools_dirs)
    .describe('The folders that contain tools, in this order.'),
  tools_dir: folder.optional().meta({ deprecated: true, description: 'Write tools_dirs: […] instead.' }),
  runs_dir: folder.default(DEFAULTS.project.runs_dir).describe('The folder of the runs.'),
  registry_dir: folder
    .default(DEFAULTS.project.registry_dir)
    .describe('A folder for manifests that are separate from their tools.'),
});

const discovery = z.strictObject({
  patterns: z
    .record(z.string(), z.array(z.string().min(1)))
    .default({})
    .describe('Further entries: a language, and globs below each tools folder.'),
  cache_ttl: z
    .number()
    .nonnegative()
    .default(DEFAULTS.discovery.cache_ttl)
    .describe('Seconds after which everything is read again, changed or not; 0 disables the cache.'),
  auto_discover: z
    .boolean()
    .default(true)
    .describe('When false, only tools with a manifest or a pattern are offered.'),
});

const environment = z.strictObject({
  base_allowlist: z
    .array(variable.superRefine(mayBePassed))
    .default(DEFAULTS.environment.base_allowlist)
    .describe('Variables that every tool gets.'),
  timeout_s: seconds.default(DEFAULTS.environment.timeout_s).describe('Seconds until a run is stopped.'),
  heartbeat_grace_s: seconds
    .default(DEFAULTS.environment.heartbeat_grace_s)
    .describe('Seconds of silence until a run is stopped.'),
  stall_s: seconds.optional().describe('Seconds without progress until a warning; no warning by default.'),
  max_output_size: z.int().positive().default(DEFAULTS.environment.max_output_size).describe('In bytes.'),
  cancel_grace_s: z
    .number()
    .nonnegative()
    .default(DEFAULTS.environment.cancel_grace_s)
    .describe('Seconds between the steps that stop a tool.'),
  answer_timeout_s: seconds
    .default(DEFAULTS.environment.answer_timeout_s)
    .describe('Seconds that a run waits for an answer, when the question sets no timeout.'),
  waiting_stops_deadline: z
    .boolean()
    .default(DEFAULTS.environment.waiting_stops_deadline)
    .describe('When true, the time that a run waits for an answer does not count towards timeout_s.'),
});

const security = z.strictObject({
  allow_network_egress: z
    .boolean()
    .default(DEFAULTS.security.allow_network_egress)
    .describe('When true, a manifest may request hosts with a *.'),
  workspace_isolation: z
    .boolean()
    .optional()
    .meta({ deprecated: true, description: 'Has no effect: each run has a workspace of its own.' }),
  drop_privileges: z
    .boolean()
    .optional()
    .meta({ deprecated: true, description: 'Has no effect: the level of a tool decides on its privileges.' }),
  resource_limits: resourceLimits.prefault({}).describe('For tools whose manifest sets none.'),
  grant_roots: z.array(folder).default([]).describe('Further folders that may contain path arguments.'),
  isolation: z
    .enum(['required', 'preferred', 'off'])
    .default('preferred')
    .describe('The sandbox: only the strongest kind, the strongest available, or none.'),
  container: z
    .strictObject({
      image: z
        .string()
        .regex(/^[^\s-]\S*$/)
        .describe('The image that tools run in.'),
      command: z
        .array(z.string().regex(/^[^\n\0]+$/))
        .refine((words) => words.indexOf('run') > 0, { error: "contains no 'run' after the engine's name" })
        .optional()
        .describe(
          "The engine's 'run' command with your own options; ACOR appends its options. The default is `podman run`.",
        ),
    })
    .optional()
    .describe('Tools only run in a container of this image.'),
  allow_private_egress: z
    .array(z.string().min(1))
    .default([])
    .describe('Hosts, as host:port, that tools may access although their addresses are not public.'),
  egress_hosts: z
    .record(z.string().min(1), z.string().min(1))
    .default({})
    .describe('Fixed addresses of host names, instead of those that the system resolves.'),
  egress_authorities: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'Files with certificates (PEM) that hosts may be verified against besides those of the system, where ACOR puts secrets into requests.',
    ),
  webhook_hosts: z
    .array(
      z
        .string()
        .regex(
          /^(?:\*\.)?[^\s:/*]+:(?:\d+|\*)$|^\[[0-9a-f:.]+\]:\d+$/i,
          'must be host:port or *.domain:port',
        ),
    )
    .default([])
    .describe(
      'Hosts, as host:port, to which clients of `acor mcp --http` may have events sent. Without any, webhooks are not offered.',
    ),
  require_plan: z
    .enum(['never', 'destroys', 'writes'])
    .default(DEFAULTS.security.require_plan)
    .describe(
      'The tools that require the token of a dry run: `writes` means all except those that only read.',
    ),
  direct_calls: z
    .enum(['allow', 'deny'])
    .default(DEFAULTS.security.direct_calls)
    .describe('Whether an agent that runs the hooks of ACOR may start the entry of a tool without ACOR.'),
  writes: z
    .enum(WRITE_MODES)
    .default(DEFAULTS.security.writes)
    .describe(
      'How tools write files and folders at least: `in_place`; `snapshot`, which `undo` restores; `review`, in a layer that `apply` puts in place. A manifest and a caller may ask for more.',
    ),
  on_denied: z
    .enum(['fail', 'ask'])
    .default(DEFAULTS.security.on_denied)
    .describe(
      'What happens with a host, a path or a program that the permissions of a tool do not cover: it is refused, or the run asks. A connection waits meanwhile; paths and programs of a call are asked for before the tool starts.',
    ),
});

const usd = z.number().positive();
/** USD per million tokens. Without a rate, such tokens have no known price. */
const rates = z.strictObject({
  input: z.number().nonnegative().describe('USD per million input tokens that no cache had.'),
  output: z.number().nonnegative().describe('USD per million output tokens.'),
  cache_read: z.number().nonnegative().optional().describe('USD per million input tokens read from a cache.'),
  cache_write: z
    .number()
    .nonnegative()
    .optional()
    .describe('USD per million input tokens written to a cache.'),
});

const budget = z.strictObject({
  max_runs: z
    .int()
    .positive()
    .optional()
    .describe('The number of concurrent runs; the others wait in `queued`.'),
  max_timeout_s: seconds.optional().describe('A ceiling for manifests and flags.'),
  max_output_size: z.int().positive().optional().describe('In bytes; a ceiling for manifests.'),
  max_attempts: z.int().positive().optional().describe('A ceiling for manifests and flags.'),
  max_cost_usd: usd.optional().describe('The most that one run of a tool or task may cost.'),
  max_workflow_cost_usd: usd
    .optional()
    .describe('The most that a workflow or pipe may cost, with everything in it.'),
  max_day_cost_usd: usd.optional().describe('The most that all runs of a day (UTC) may cost.'),
  cost_warn_at: z
    .number()
    .positive()
    .max(1)
    .default(DEFAULTS.budget.cost_warn_at)
    .describe('The share of a cost limit at which a run warns.'),
  on_cost_limit: z
    .enum(['stop', 'ask'])
    .default(DEFAULTS.budget.on_cost_limit)
    .describe('What happens at a cost limit: the run ends with E_BUDGET; or a task or workflow asks first.'),
  resources: resourceLimits.prefault({}).describe('Ceilings for manifests.'),
});

const storage = z.strictObject({
  keep: z
    .int()
    .nonnegative()
    .optional()
    .describe('How many of the newest runs `acor clean` keeps when it is called without a rule.'),
});

const task = z.strictObject({
  executor: z
    .union([
      z.enum(['codex', 'claude', 'gemini', 'responses']),
      z.strictObject({
        command: z
          .array(z.string().min(1))
          .min(1)
          .describe('A program and its first words; task id, description and plan follow.'),
        adapter: z
          .enum(['markers', 'plain', 'jsonl', 'codex', 'claude', 'gemini'])
          .optional()
          .describe('How its stdout is read; the default is markers.'),
      }),
    ])
    .optional()
    .describe('The executor of tasks: an agent by name, or any program.'),
  model: z.string().min(1).optional().describe("The default is the executor's own choice."),
  writes: z
    .array(folder)
    .optional()
    .describe(
      'Writable paths, relative to the project. By default, everything at the top of the project except files that other programs execute or obey.',
    ),
  commands: z.array(z.string().min(1)).default([]).describe('Further programs that it may start.'),
  hosts: z
    .array(z.string().min(1))
    .default([])
    .describe('Hosts, as host:port, that it may access besides its service.'),
  secrets: z
    .array(z.string().min(1))
    .default([])
    .describe('Stored secrets that it gets in variables of the same names.'),
  max_iterations: z
    .int()
    .positive()
    .default(DEFAULTS.task.max_iterations)
    .describe('Calls of the model, or turns of a program, in one run.'),
  max_cost_usd: z.number().positive().optional().describe('A run ends when it has cost this much.'),
  price: rates.optional().describe('The prices of the model, for executors that report only tokens.'),
});

const telemetry = z.strictObject({
  endpoint: httpAddress
    .optional()
    .describe(
      'A collector that gets the spans of ended runs by OTLP over HTTP, at /v1/traces below this address.',
    ),
  authorization: z
    .string()
    .regex(SECRET_NAME, SECRET_NAME_RULE)
    .optional()
    .describe('The name of the stored secret with the value of the header Authorization.'),
  file: folder.optional().describe('A file that gets the same, one JSON object a line.'),
});

const answerRule = z.strictObject({
  action: z.string().min(1).describe('The action of the question.'),
  tool: z.string().min(1).optional().describe('Only when this tool asks.'),
  answer: z.unknown().describe('The id of an option, or a value that matches the schema of the question.'),
  reason: z.string().optional().describe('The reason; it is recorded with the answer.'),
});

const plugins = z
  .array(
    folder.regex(
      PLUGIN_FILE,
      'must end in the name of a module, such as notify.ts: lower-case letters, digits, - and _, then .ts, .mts, .js or .mjs',
    ),
  )
  .superRefine((paths, context) => {
    const names = paths.map(pluginName);
    names.forEach((name, index) => {
      if (names.indexOf(name) === index) return;
      const message = `two plugins are called '${name}', and a plugin is approved by its name`;
      const params = { rule: 'duplicate-name', fix: 'Rename the file of one of them.' };
      context.addIssue({ code: 'custom', path: [index], message, params });
    });
  });

/** The schema of `.acor/config.yaml` (contract §6). Every key is optional; unknown keys are errors. */
export const configFile = z.strictObject({
  version: z
    .literal(1, 'must be 1, the only version of the file so far')
    .default(1)
    .describe('The version of the file.'),
  acor_version: z
    .string()
    .regex(SEMVER, 'must be a version such as 1.2.3')
    .optional()
    .describe('The ACOR that wrote the file.'),
  project: project.prefault({}).describe('The project and its folders.'),
  discovery: discovery.prefault({}).describe('How tools are found.'),
  environment: environment.prefault({}).describe('The environment and the time limits of tools.'),
  security: security.prefault({}).describe('The sandbox and the limits of tools.'),
  budget: budget.prefault({}).describe('Ceilings that neither a manifest nor a flag can raise.'),
  storage: storage.prefault({}).describe('How runs are stored.'),
  task: task.prefault({}).describe('The executor of `acor task`, and its settings.'),
  answers: z.array(answerRule).default([]).describe('Automatic answers; the first matching rule applies.'),
  resources: z
    .array(publishedResource)
    .default([])
    .describe('What MCP clients can read besides runs: files of the project, and what tools return.'),
  prices: z
    .record(z.string().min(1), rates)
    .default({})
    .describe('The prices of models by name, in place of those of the price table.'),
  notify: z
    .array(receiver)
    .default([])
    .describe('Who is sent a message when a run asks, ends, fails or gets near its budget.'),
  telemetry: telemetry.prefault({}).describe('Where the traces of runs go.'),
  host: z
    .enum(['auto', 'off'])
    .default('off')
    .describe(
      'auto: processes that have everything loaded wait for the next calls of programs, and end when idle.',
    ),
  plugins: plugins.default([]).describe('Plugin modules. They are only active after approval.'),
});

export type Config = z.output<typeof configFile>;

/** A cloned project can contain a configuration too. */
function mayBePassed(name: string, context: z.core.$RefinementCtx): void {
  const why = whyDenied(name);
  if (why === undefined) return;
  const message = `a tool must not get the variable '${name}': ${why}`;
  context.addIssue({ code: 'custom', message, params: { rule: 'env-name', fix: 'Remove it.' } });
}
