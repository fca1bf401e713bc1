import { AcorError } from '../../protocol/acor-error.ts';
import type { Config } from '../../protocol/config-file.ts';
import { SEE_CONFIG, TRUST } from '../../protocol/next-steps.ts';
import { runName, withoutKind } from '../../protocol/run.ts';
import type { LoadedConfig } from '../config/load.ts';

/** The request for one turn of an executor. */
export interface RunSlot {
  /** The executor's command, from the configuration or the PATH. */
  program: readonly string[];
  taskId: string;
  prompt: string;
  /** The rules of the conversation: how to report, and where the executor may write. */
  instructions: string;
  /** The conversation to continue; null starts a new one. */
  session: string | null;
  plan: string | null;
  /** Whether ACOR's sandbox confines the executor, which then disables its own. */
  isConfined: boolean;
  settings: TaskSettings;
  /** The model, configured or the executor's default; undefined when the program chooses it. */
  model: string | undefined;
  /** What the turn may still cost; null without a limit. */
  budgetUsd: number | null;
  /** The service address from the caller's environment, if it is not the default. */
  baseUrl: string | null;
}

/** The section `task` of the configuration. */
export type TaskSettings = Config['task'];

/** A program that executes tasks. */
export interface Executor {
  name: string;
  /** Looked up on the PATH; null when the configuration contains the command. */
  program: string | null;
  adapter: string;
  /** The hosts that it must reach, unless `baseUrl` replaces them. */
  hosts: readonly string[];
  /** The variable with the address of an alternative service. */
  baseUrl: string | null;
  /** The secret with its key, and the variables in which the program looks for it. */
  key: { secret: string; variables: readonly string[] } | null;
  /** Its own login file, relative to the home folder. Used when there is no key. */
  login: string | null;
  /** The folder of its settings and sessions, relative to its home, and the variable that names it, if any. */
  keeps: { folder: string; variable: string | null } | null;
  /** A file relative to its home. Without it, the program would ask the user how to log in. */
  settingsFile?: (hasKey: boolean) => { path: string; text: string };
  /** It reports the tokens of the whole conversation, not of one turn. */
  reportsTotals?: true;
  defaultModel?: string;
  argv(turn: RunSlot): string[];
}

const CODEX: Executor = {
  name: 'codex',
  program: 'codex',
  adapter: 'codex',
  hosts: ['api.openai.com:443', 'chatgpt.com:443', 'auth.openai.com:443'],
  baseUrl: 'OPENAI_BASE_URL',
  key: { secret: 'OPENAI_API_KEY', variables: ['CODEX_API_KEY', 'OPENAI_API_KEY'] },
  login: '.codex/auth.json',
  keeps: { folder: '.codex', variable: 'CODEX_HOME' },
  reportsTotals: true,
  argv({ program, prompt, instructions, session, isConfined, model, baseUrl }) {
    const mode = isConfined ? 'danger-full-access' : 'workspace-write';
    const options = ['--json', '--skip-git-repo-check', '-c', `sandbox_mode="${mode}"`];
    const chosen = model === undefined ? [] : ['-m', model];
    // It reads the address only from its settings. A JSON string is a valid TOML string.
    const service =
      baseUrl === null
        ? []
        : [
            ...['-c', 'model_provider="acor"', '-c'],
            `model_providers.acor={name="acor",base_url=${JSON.stringify(baseUrl)},env_key="OPENAI_API_KEY",wire_api="responses"}`,
          ];
    const to = session === null ? [] : ['resume', session];
    // It has no flag for system instructions, and keeps those of a conversation.
    const words = session === null ? `${instructions}\n\n${prompt}` : prompt;
    return [...program, 'exec', ...to, ...options, ...chosen, ...service, '--', words];
  },
};

const CLAUDE: Executor = {
  name: 'claude',
  program: 'claude',
  adapter: 'claude',
  hosts: ['api.anthropic.com:443'],
  baseUrl: 'ANTHROPIC_BASE_URL',
  key: { secret: 'ANTHROPIC_API_KEY', variables: ['ANTHROPIC_API_KEY'] },
  login: '.claude/.credentials.json',
  keeps: { folder: '.claude', variable: 'CLAUDE_CONFIG_DIR' },
  argv({ program, prompt, instructions, session, isConfined, model, budgetUsd }) {
    return [
      ...program,
      ...['-p', prompt, '--output-format', 'stream-json', '--verbose'],
      ...['--append-system-prompt', instructions],
      ...['--permission-mode', isConfined ? 'bypassPermissions' : 'acceptEdits'],
      ...(session === null ? [] : ['--resume', session]),
      ...(model === undefined ? [] : ['--model', model]),
      ...(budgetUsd === null ? [] : ['--max-budget-usd', String(budgetUsd)]),
    ];
  },
};

const GEMINI: Executor = {
  name: 'gemini',
  program: 'gemini',
  adapter: 'gemini',
  hosts: [
    'generativelanguage.googleapis.com:443',
    'cloudcode-pa.googleapis.com:443',
    'oauth2.googleapis.com:443',
  ],
  baseUrl: 'GOOGLE_GEMINI_BASE_URL',
  key: { secret: 'GEMINI_API_KEY', variables: ['GEMINI_API_KEY'] },
  login: '.gemini/oauth_creds.json',
  keeps: { folder: '.gemini', variable: null },
  settingsFile: (hasKey) => ({
    path: '.gemini/settings.json',
    text: JSON.stringify({
      security: { auth: { selectedType: hasKey ? 'gemini-api-key' : 'oauth-personal' } },
    }),
  }),
  argv({ program, prompt, instructions, session, isConfined, model }) {
    const words = session === null ? `${instructions}\n\n${prompt}` : prompt;
    return [
      ...program,
      ...['-p', words, '-o', 'stream-json', '--skip-trust'],
      ...['--approval-mode', isConfined ? 'yolo' : 'auto_edit'],
      ...(session === null ? [] : ['--resume', session]),
      ...(model === undefined ? [] : ['-m', model]),
    ];
  },
};

/** Its program is part of ACOR (`src/core/task/responses`) and reads the turn from a file. */
const RESPONSES: Executor = {
  name: 'responses',
  program: null,
  adapter: 'jsonl',
  hosts: ['api.openai.com:443'],
  baseUrl: 'OPENAI_BASE_URL',
  key: { secret: 'OPENAI_API_KEY', variables: [] },
  login: null,
  keeps: null,
  defaultModel: 'gpt-5',
  argv: ({ program }) => [...program],
};

const NAMED: Readonly<Record<string, Executor>> = {
  codex: CODEX,
  claude: CLAUDE,
  gemini: GEMINI,
  responses: RESPONSES,
};

/** Any program with the call convention of seed 003: `<command> <task id> <description> [<plan>]`. */
function ownExecutor({ adapter = 'markers' }: { adapter?: string | undefined }): Executor {
  return {
    name: 'command',
    program: null,
    adapter,
    hosts: [],
    baseUrl: null,
    key: null,
    login: null,
    keeps: null,
    // Only programs that write markers are taught them: others report in their own way.
    argv: ({ program, taskId, prompt, instructions, session, plan }) => [
      ...program,
      taskId,
      session === null && adapter === 'markers' ? `${instructions}\n\n${prompt}` : prompt,
      ...(plan === null ? [] : [plan]),
    ],
  };
}

/** The named executors, besides the configured `command`. */
export const EXECUTOR_NAMES = ['codex', 'claude', 'gemini', 'responses', 'command'] as const;

/** The name of the tool that runs an executor. */
export function toolNameOf(executor: string): string {
  return runName('task', executor);
}

/** For a task without an executor: throws E_APPROVAL_REQUIRED when the project names one, which has no effect until a person trusts it. */
export function refuseUntrustedExecutor({ trust }: Pick<LoadedConfig, 'trust'>): void {
  const named = trust.isTrusted
    ? undefined
    : trust.widenings.find(({ key }) => /^task\.executor(\.|$)/.test(key));
  if (named === undefined) return;
  throw new AcorError(
    'E_APPROVAL_REQUIRED',
    `the task executor at ${named.where} has no effect, because you have not trusted it`,
    {
      hint: 'Read it, and trust it at a terminal.',
      next: [TRUST],
    },
  );
}

/** The executor of a tool name. Throws E_TOOL_NOT_FOUND, and E_CONFIG_INVALID when no command is configured. */
export function executorOf(tool: string, { executor }: TaskSettings): Executor {
  const name = withoutKind(tool);
  if (name === 'command') {
    if (typeof executor === 'object') return ownExecutor(executor);
    throw new AcorError('E_CONFIG_INVALID', 'no command is configured as the task executor', {
      hint: "Write in .acor/config.yaml: task: { executor: { command: ['./agent'], adapter: markers } }",
      next: [SEE_CONFIG],
    });
  }
  if (Object.hasOwn(NAMED, name)) return NAMED[name]!;
  throw new AcorError('E_TOOL_NOT_FOUND', `there is no task executor '${name}'`, {
    hint: `Use one of: ${EXECUTOR_NAMES.join(', ')}`,
  });
}
