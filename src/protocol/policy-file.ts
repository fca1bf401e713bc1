import * as z from 'zod';
import { PERMISSION_LEVELS } from './manifest-permissions.ts';
import { TOOL_NAME, TOOL_NAME_RULE } from './names.ts';
import { resourceLimits } from './resource-limits.ts';

const text = z.string().min(1);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in 64 lower-case hex digits');
const toolName = z.string().regex(TOOL_NAME, TOOL_NAME_RULE);
const approvable = z
  .string()
  .refine((name) => TOOL_NAME.test(name.replace(/^plugin:/, '')), { error: TOOL_NAME_RULE });

const root = z
  .string()
  .regex(
    /^(?:\/|~(?:\/|$)|\$\{(?:PROJECT|TOOL_DIR)\}(?:\/|$))[^\0*?[\]{}]*(?:\/\*\*)?$|^\$\{(?:PROJECT|TOOL_DIR)\}(?:\/[^\0*?[\]{}]*)?(?:\/\*\*)?$/,
    'must be a folder: absolute, or beginning with ~/, ${PROJECT} or ${TOOL_DIR}',
  );

const host = z
  .string()
  .regex(
    /^(?:\*|(?:\[[0-9A-Fa-f:.]+\]|(?:\*\.)?[\p{L}\p{M}\p{N}_-]+(?:\.[\p{L}\p{M}\p{N}_-]+)*|\*):(?:\d{1,5}|\*))$/u,
    'must be host:port, such as api.example.com:443, *.example.com:443 or *',
  );

const limits = z
  .strictObject({
    ...resourceLimits.shape,
    timeout_s: z.number().positive().optional().describe('In seconds.'),
    max_output_size: z.int().positive().optional().describe('In bytes.'),
  })
  .describe('Ceilings: a manifest may set less, and unset limits become these.');

/** What only a person decides, unless a policy leaves it to agents. */
export const AGENT_DECISIONS = ['apply', 'undo', 'allow_host', 'allow_path', 'allow_command'] as const;

export type AgentDecision = (typeof AGENT_DECISIONS)[number];

/** What callers do, as `who_may` names it. */
export const CALLER_ACTIONS = ['run', 'answer', 'answer_own', 'cancel', 'approve', 'change', 'read'] as const;

export type CallerAction = (typeof CALLER_ACTIONS)[number];

const caller = z
  .string()
  .regex(
    /^(user|agent|token)(:[^\0-\x1f]+)?$/,
    'must be user, agent or token, or one of them by name: user:ada, agent:claude-code, token:ci',
  );
const callers = (what: string) => z.array(caller).optional().describe(`Who may ${what}.`);

const whoMay = z.strictObject({
  run: callers('start runs, and resume them'),
  answer: callers('answer questions'),
  answer_own: callers('answer questions of the runs that they have started'),
  cancel: callers('cancel runs'),
  approve: callers('approve tools and plugins, and trust the project'),
  change: callers('change records, secrets and the configuration'),
  read: callers('read runs and tools'),
} satisfies Record<CallerAction, unknown>);

/** The rules for all tools or for one. A missing key does not restrict anything. */
const rules = {
  max_level: z.enum(PERMISSION_LEVELS).optional().describe('The highest level that a tool may have.'),
  filesystem: z
    .strictObject({
      read: z.array(root).optional().describe('Folders that a tool may read.'),
      write: z.array(root).optional().describe('Folders that a tool may write.'),
    })
    .optional()
    .describe('Folders that a tool may read and write besides its workspace, by manifest or by argument.'),
  network: z
    .strictObject({ egress_allow: z.array(host).optional().describe('As host:port.') })
    .optional()
    .describe('Hosts that a tool may request; * means any host, any subdomain or any port.'),
  commands: z.array(text).optional().describe('Programs that a tool may request; * means all.'),
  secrets: z.array(text).optional().describe('Secrets that a tool may request; * means all.'),
  limits: limits.optional(),
  require_isolation: z
    .int()
    .min(1)
    .max(3)
    .optional()
    .describe('The weakest sandbox in which a tool may run: 1 is the strongest tier, 3 is none.'),
};

const toolRules = z.strictObject({
  ...rules,
  manifest_sha256: sha256.optional().describe('The only manifest that the tool may have.'),
});

/** The schema of `policy.yaml` (contract §9). Unknown keys are errors. */
export const policyFile = z.strictObject({
  version: z
    .literal(1, 'must be 1, the only version of the file so far')
    .default(1)
    .describe('The version of the file.'),
  ...rules,
  tools: z.record(toolName, toolRules).optional().describe('Additional restrictions for single tools.'),
  approved: z
    .array(
      z.strictObject({
        tool: approvable.describe('The name of the tool, or plugin:<name>.'),
        digest: sha256.describe('What `acor approve` shows of manifest and entry.'),
      }),
    )
    .optional()
    .describe('Approved privileged tools and plugins; only in the files of the user and the system.'),
  agents_may: z
    .array(z.enum(AGENT_DECISIONS))
    .optional()
    .describe(
      'What callers without a person at a terminal may decide: `apply` and `undo` changes of runs, and answer whether a tool may reach a host (`allow_host`), use a path (`allow_path`) or start a program (`allow_command`). Nothing if no file of the user or the system says so.',
    ),
  who_may: whoMay
    .optional()
    .describe(
      'Who may do what: `user` at the terminal or in the dashboard, `agent`, `token` (a client of the HTTP API), each also by name. Everybody where a list is missing.',
    ),
  engine: z
    .enum(['builtin', 'cedar', 'command'])
    .optional()
    .describe('An additional policy engine; builtin means none.'),
  command: z
    .array(text)
    .min(1)
    .optional()
    .describe(
      'For engine command: the program that decides, absolute, and its arguments. Not in the file of a project.',
    ),
  cedar: z
    .strictObject({ policies: text.describe('A file, relative to this one.') })
    .optional()
    .describe('For engine cedar: the file of Cedar policies, relative to this one.'),
});

export type PolicyFile = z.output<typeof policyFile>;

/** The rules for all tools, or for one. */
export type PolicyRules = z.output<typeof toolRules>;
