import { AcorError } from '../../protocol/acor-error.ts';
import type { Config } from '../../protocol/config-file.ts';
import { SEE_CONFIG } from '../../protocol/next-steps.ts';
import { runName, withoutKind } from '../../protocol/run-kind.ts';

/** What an executor is asked to do in one turn. */
export interface RunSlot {
  /** The command line of the executor's program, as the configuration or the PATH has it. */
  program: readonly string[];
  taskId: string;
  prompt: string;
  /** The rules of the conversation: how to report, and where it may write. */
  instructions: string;
  /** The conversation to go on with; null begins a new one. */
  session: string | null;
  plan: string | null;
  /** Whether ACOR's sandbox holds it: its own would only be in the way then. */
  isConfined: boolean;
  settings: TaskSettings;
  /** The address of another service than the usual one, where the caller's environment gives one. */
  baseUrl: string | null;
}

/** The section `task` of the configuration. */
export type TaskSettings = Config['task'];

/** A program that carries out tasks. */
export interface Executor {
  name: string;
  /** Looked up on the PATH; null when the configuration gives the command. */
  program: string | null;
  adapter: string;
  /** Whom it must reach, unless `baseUrl` names another. */
  hosts: readonly string[];
  /** The variable in which its users give the address of another service. */
  baseUrl: string | null;
  /** The secret with its key, and the variables in which the program looks for it. */
  key: { secret: string; variables: readonly string[] } | null;
  /** Where its own login lies below the home folder: used when there is no key. */
  login: string | null;
  /** The folder below its home in which it keeps its settings and sessions, and the variable that names it, if one does. */
  keeps: { folder: string; variable: string | null } | null;
  /** A file below its home without which it would ask a person how to log in. */
  settingsFile?: (hasKey: boolean) => { path: string; text: string };
  /** Its figures are those of the whole conversation so far, not those of a turn. */
  tellsTotals?: true;
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
  tellsTotals: true,
  argv({ program, prompt, instructions, session, isConfined, settings: { model }, baseUrl }) {
    const mode = isConfined ? 'danger-full-access' : 'workspace-write';
    const options = ['--json', '--skip-git-repo-check', '-c', `sandbox_mode="${mode}"`];
    const chosen = model === undefined ? [] : ['-m', model];
    // It takes the address from its settings alone. A JSON text is one of TOML, too.
    const service =
      baseUrl === null
        ? []
        : [
            ...['-c', 'model_provider="acor"', '-c'],
            `model_providers.acor={name="acor",base_url=${JSON.stringify(baseUrl)},env_key="OPENAI_API_KEY",wire_api="responses"}`,
          ];
    const to = session === null ? [] : ['resume', session];
    // It has no flag for the system's own words, and keeps those of a conversation.
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
  argv({ program, prompt, instructions, session, isConfined, settings }) {
    const { model, max_cost_usd: cost } = settings;
    return [
      ...program,
      ...['-p', prompt, '--output-format', 'stream-json', '--verbose'],
      ...['--append-system-prompt', instructions],
      ...['--permission-mode', isConfined ? 'bypassPermissions' : 'acceptEdits'],
      ...(session === null ? [] : ['--resume', session]),
      ...(model === undefined ? [] : ['--model', model]),
      ...(cost === undefined ? [] : ['--max-budget-usd', String(cost)]),
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
  argv({ program, prompt, instructions, session, isConfined, settings: { model } }) {
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

/** Its program is ACOR's own (`src/core/task/responses`), and is told the turn in a file. */
const RESPONSES: Executor = {
  name: 'responses',
  program: null,
  adapter: 'jsonl',
  hosts: ['api.openai.com:443'],
  baseUrl: 'OPENAI_BASE_URL',
  key: { secret: 'OPENAI_API_KEY', variables: [] },
  login: null,
  keeps: null,
  argv: ({ program }) => [...program],
};

const NAMED: Readonly<Record<string, Executor>> = {
  codex: CODEX,
  claude: CLAUDE,
  gemini: GEMINI,
  responses: RESPONSES,
};

/** Any program, called as seed 003 calls its own: `<command> <task id> <description> [<plan>]`. */
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
    argv: ({ program, taskId, prompt, plan }) => [
      ...program,
      taskId,
      prompt,
      ...(plan === null ? [] : [plan]),
    ],
  };
}

/** The executors that can be named, beside the `command` of the configuration. */
export const EXECUTOR_NAMES = ['codex', 'claude', 'gemini', 'responses', 'command'] as const;

/** The tool that an executor is run as. */
export function toolNameOf(executor: string): string {
  return runName('task', executor);
}

/** The executor behind the name of a tool. Throws E_TOOL_NOT_FOUND, and E_CONFIG_INVALID for a command that nobody has configured. */
export function executorOf(tool: string, { executor }: TaskSettings): Executor {
  const name = withoutKind(tool);
  if (name === 'command') {
    if (typeof executor === 'object') return ownExecutor(executor);
    throw new AcorError('E_CONFIG_INVALID', 'no command is configured as the executor of tasks', {
      hint: "Write in .acor/config.yaml: task: { executor: { command: ['./agent'], adapter: markers } }",
      next: [SEE_CONFIG],
    });
  }
  if (Object.hasOwn(NAMED, name)) return NAMED[name]!;
  throw new AcorError('E_TOOL_NOT_FOUND', `there is no executor of tasks called '${name}'`, {
    hint: `Use one of: ${EXECUTOR_NAMES.join(', ')}`,
  });
}
