import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { userFolders } from '../config/find.ts';
import type { LoadedConfig } from '../config/load.ts';
import { runsDirOf } from '../config/paths.ts';
import { findProgram, isProgram } from '../registry/find-program.ts';
import { sdkPaths } from '../registry/sdk-paths.ts';
import type { ToolEntry } from '../registry/tool-entry.ts';
import { BASE_UTILITIES } from '../sandbox/profile/base-utilities.ts';
import { executablePaths, runtimePaths } from '../sandbox/profile/programs.ts';
import { PROTECTED_FILES, PROTECTED_FOLDERS } from '../sandbox/profile/protected-names.ts';
import { SecretStore } from '../secrets/secret-store.ts';
import { type Executor, executorOf } from './executors.ts';
import { responsesProgram } from './responses-program.ts';
import { TURN_COMMAND } from './turn-script.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** An agent thinks for minutes, and works for hours. */
const TIMEOUT_S = 14_400;
const SILENCE_S = 900;
/** The shells that agents look for, and what most projects are built and tested with; those that are not there are no harm. */
const USUAL_COMMANDS = ['zsh', 'which', 'ps', 'git', 'node', 'npm', 'npx', 'bun', 'python3', 'make', 'rg'];
/** Dependencies are installed by people: what lies there is run by others. */
const NEVER_WRITTEN = ['node_modules', '.git'];

/** An executor of tasks as the tool that it is for the runner: a manifest made of the configuration, and how it is confined. */
export async function executorTool(name: string, config: LoadedConfig, env: Env): Promise<ToolEntry> {
  const settings = config.config.task;
  const executor = executorOf(name, settings);
  const { words, dir, reads } = await programOf(executor, config, env);
  const [program] = words;
  const home = homeOf(config, executor.name, env);
  // It is named among the grants, which have to be there.
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const asked = { runtime: program!, language: 'executable', toolDir: dir, path: env['PATH'] ?? '' };
  const programs = executablePaths({
    ...asked,
    commands: [...USUAL_COMMANDS, ...settings.commands],
  } as never);
  const packages = packagesOf(program!);
  const { manifestFile, completeManifest } = await import('../../protocol/manifest.ts');
  const secrets = secretsOf(executor, config, env);
  const login = executor.login === null ? null : join(userHome(env), executor.login);
  const file = manifestFile.parse({
    version: '1.0.0',
    description: `Carries out a task with ${executor.name}.`,
    command: [...TURN_COMMAND],
    adapter: executor.adapter,
    inputs: [
      { name: 'task_id', required: true, joined: true, pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' },
      { name: 'description', required: true, joined: true, min: 1, max: 100_000 },
      { name: 'plan', type: 'path', access: 'read', joined: true },
    ],
    permissions: {
      level: 'standard',
      filesystem: {
        read: [
          config.root,
          ...runtimePaths(asked as never).filter((path) => existsSync(path)),
          ...reads,
          ...packages,
          ...(login !== null && secrets.length === 0 && existsSync(login) ? [login] : []),
        ],
        write: [home, ...writesOf(config, env).map((path) => join(config.root, path))],
      },
      network: { egress_allow: hostsOf(executor, settings.hosts, env) },
      // What a project brings along is run when it is built and tested.
      commands: [...new Set([...programs, ...BASE_UTILITIES, ...packages, config.root])],
    },
    env: { allow: ['TERM', ...(executor.baseUrl === null ? [] : [executor.baseUrl])] },
    secrets,
    timeout_s: TIMEOUT_S,
    heartbeat_grace_s: SILENCE_S,
    actions: ['question', 'blocked'],
    effects: 'writes',
  });
  return {
    name,
    dir,
    entry: null,
    command: [...TURN_COMMAND],
    language: 'executable',
    adapter: executor.adapter,
    manifest: completeManifest(file, name),
    manifestPath: null,
    problems: [],
    worksIn: config.root,
    home,
  };
}

/** The words with which an executor's program begins, and what it needs to read. Throws E_RUNTIME_MISSING. */
export async function programOf(
  executor: Executor,
  config: LoadedConfig,
  env: Env,
): Promise<{ words: [string, ...string[]]; dir: string; reads: string[] }> {
  const folder = join(sdkPaths().packageRoot, 'templates', 'task');
  if (executor.name === 'responses') return responsesProgram(config, env);
  const { executor: given } = config.config.task;
  const [first, ...rest] =
    executor.program === null && typeof given === 'object' ? given.command : [executor.program!];
  const isPath = first!.includes('/');
  const found = isPath ? join(isAbsolute(first!) ? '/' : config.root, first!) : findProgram(first!, env);
  if (found === undefined || !isProgram(found)) {
    throw new AcorError(
      'E_RUNTIME_MISSING',
      `the executor '${executor.name}' runs '${first}', which is not there`,
      {
        hint: isPath
          ? `Put it there, and make it executable: chmod +x '${found}'`
          : `Install ${first}, or choose another one with --executor.`,
        details: { runtime: first },
      },
    );
  }
  return { words: [calledAs(found), ...rest], dir: folder, reads: [] };
}

/** A link is not there inside of the sandbox, only what it leads to; but a virtual environment is told by its link, and is there as a whole. */
function calledAs(program: string): string {
  return existsSync(join(dirname(dirname(program)), 'pyvenv.cfg')) ? program : realpathSync(program);
}

/** A program that npm has installed finds the rest of itself among the packages beside its own. */
function packagesOf(program: string): string[] {
  const at = program.lastIndexOf('/node_modules/');
  return at === -1 ? [] : [program.slice(0, at + '/node_modules'.length)];
}

/**
 * Where a task may write: what the configuration names, else everything at the top of the project but ACOR's own, dependencies, and what
 * others obey without being asked.
 */
export function writesOf(config: LoadedConfig, env: Env): string[] {
  const { writes } = config.config.task;
  if (writes !== undefined) return writes;
  const own = [runsDirOf(config), ...userFolders(env)].map((path) => topOf(relative(config.root, path)));
  const closed = ['.acor', ...own, ...NEVER_WRITTEN, ...PROTECTED_FILES, ...PROTECTED_FOLDERS.map(topOf)];
  return readdirSync(config.root, { withFileTypes: true })
    .filter((entry) => (entry.isFile() || entry.isDirectory()) && !closed.includes(entry.name))
    .map(({ name }) => name)
    .filter((name) => !/[$*\p{Cc}]/u.test(name))
    .sort();
}

/** The home of the user who runs ACOR, where the programs keep their logins. */
export function userHome(env: Env): string {
  return env['HOME'] || homedir();
}

function topOf(folder: string): string {
  return folder.split('/')[0]!;
}

function secretsOf({ key }: Executor, config: LoadedConfig, env: Env): string[] {
  const { secrets } = config.config.task;
  const store = new SecretStore(config.root, env);
  return [...new Set([...secrets, ...(key !== null && store.has(key.secret) ? [key.secret] : [])])];
}

function hostsOf({ baseUrl, hosts }: Executor, more: readonly string[], env: Env): string[] {
  const given = baseUrl === null ? undefined : env[baseUrl];
  if (!given) return [...hosts, ...more];
  if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol)) {
    throw new AcorError('E_USAGE', `${baseUrl} is no address of a service: ${given}`, {
      hint: `Give it as https://host[:port]/path, or take it out of the environment: unset ${baseUrl}`,
    });
  }
  const { hostname, port, protocol } = new URL(given);
  return [`${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`, ...more];
}

/**
 * The home folder of an executor in a project: what it writes of its own (sessions, above all) stays there from one run to the next, and the
 * user's own settings of it are out of its reach. It is state by the XDG specification, and no folder of ACOR's that is closed to tools.
 */
export function homeOf(
  { root }: LoadedConfig,
  executor: string,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const given = env['XDG_STATE_HOME'];
  const state = given && isAbsolute(given) ? given : join(env['HOME'] || homedir(), '.local', 'state');
  const project = createHash('sha256').update(root).digest('hex').slice(0, 16);
  return join(state, 'acor', 'tasks', project, executor);
}
