import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { withoutKind } from '../../protocol/run.ts';
import { homeFolder } from '../../util/home-folder.ts';
import { newSha256 } from '../../util/sha256.ts';
import { userFolders } from '../config/find.ts';
import { type LoadedConfig, runsDirOf } from '../config/load.ts';
import { findProgram, isProgram } from '../registry/find-program.ts';
import { sdkPaths } from '../registry/own-files.ts';
import type { ToolEntry } from '../registry/tool-entry.ts';
import { BASE_UTILITIES } from '../sandbox/profile/base-utilities.ts';
import { executablePaths, runtimePaths } from '../sandbox/profile/programs.ts';
import { PROTECTED_FILES, PROTECTED_FOLDERS } from '../sandbox/profile/protected-names.ts';
import { SecretStore } from '../secrets/secret-store.ts';
import { type Executor, executorOf, refuseUntrustedExecutor } from './executors.ts';
import { responsesProgram } from './responses-program.ts';
import { TURN_COMMAND } from './turn-script.ts';

/** Where an executor makes new files for the top of the project, in its workspace: the top itself can only be read. */
export const NEW_FILES = 'top';

type Env = Readonly<Record<string, string | undefined>>;

/** An agent may think for minutes and work for hours. */
const TIMEOUT_S = 14_400;
const SILENCE_S = 900;
/** The shells that agents expect, and the usual build and test programs. Missing ones are ignored. */
const USUAL_COMMANDS = ['zsh', 'which', 'ps', 'git', 'node', 'npm', 'npx', 'bun', 'python3', 'make', 'rg'];
/** Users install dependencies, and other programs execute them, so they stay read-only. */
const NEVER_WRITTEN = ['node_modules', '.git'];

/** Presents a task executor as a tool to the runner: a manifest derived from the configuration, and its sandbox. */
export async function executorTool(name: string, config: LoadedConfig, env: Env): Promise<ToolEntry> {
  const { task } = config.config;
  if (withoutKind(name) === 'command' && typeof task.executor !== 'object') refuseUntrustedExecutor(config);
  const executor = executorOf(name, task);
  const program = await programOf(executor, config, env);
  const home = homeOf(config, executor.name, env);
  const { manifestFile, completeManifest } = await import('../../protocol/manifest.ts');
  const file = manifestFile.parse(manifestOf(executor, program, { config, env, home }));
  return {
    name,
    dir: program.dir,
    entry: null,
    command: [...TURN_COMMAND],
    language: 'executable',
    adapter: executor.adapter,
    manifest: completeManifest(file, name),
    manifestPath: null,
    problems: [],
    worksIn: config.root,
    ...(task.writes === undefined && { newFilesIn: NEW_FILES }),
    home,
  };
}

type Program = Awaited<ReturnType<typeof programOf>>;

/** The place in which an executor works: the project, the caller's environment, and the executor's own home folder. */
interface Place {
  config: LoadedConfig;
  env: Env;
  home: string;
}

/** The executor's manifest as a file would have it. */
function manifestOf(executor: Executor, program: Program, place: Place) {
  const secrets = secretsOf(executor, place.config, place.env);
  return {
    version: '1.0.0',
    description: `Carries out a task with ${executor.name}.`,
    command: [...TURN_COMMAND],
    adapter: executor.adapter,
    inputs: [
      { name: 'task_id', required: true, joined: true, pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' },
      { name: 'description', required: true, joined: true, min: 1, max: 100_000 },
      { name: 'plan', type: 'path', access: 'read', joined: true },
    ],
    permissions: permissionsOf(executor, program, { ...place, hasSecrets: secrets.length > 0 }),
    env: { allow: ['TERM', ...(executor.baseUrl === null ? [] : [executor.baseUrl])] },
    secrets,
    timeout_s: TIMEOUT_S,
    heartbeat_grace_s: SILENCE_S,
    actions: ['question', 'blocked'],
    effects: 'writes',
  };
}

/** The paths, hosts and programs that the sandbox opens. With a secret as its key, the executor does not need the user's login. */
function permissionsOf(
  executor: Executor,
  { words: [program], dir, reads }: Program,
  { config, env, home, hasSecrets }: Place & { hasSecrets: boolean },
) {
  const settings = config.config.task;
  const asked = {
    runtime: program,
    language: 'executable',
    toolDir: dir,
    path: env['PATH'] ?? '',
    isChosen: true,
  };
  const programs = executablePaths({
    ...asked,
    commands: [...USUAL_COMMANDS, ...settings.commands],
  } as never);
  const packages = packagesOf(program);
  const login = executor.login === null ? null : join(userHome(env), executor.login);
  return {
    level: 'standard',
    filesystem: {
      read: [
        config.root,
        ...runtimePaths(asked as never).filter((path) => existsSync(path)),
        ...reads,
        ...packages,
        ...(login !== null && !hasSecrets && existsSync(login) ? [login] : []),
      ],
      write: [home, ...writesOf(config, env).map((path) => join(config.root, path))],
    },
    network: { egress_allow: hostsOf(executor, settings.hosts, env) },
    // A build or test runs programs of the project.
    commands: [...new Set([...programs, ...BASE_UTILITIES, ...packages, config.root])],
  };
}

/** The first words of an executor's command, and the paths that it must read. Throws E_RUNTIME_MISSING. */
export async function programOf(
  executor: Executor,
  config: LoadedConfig,
  env: Env,
): Promise<{ words: [string, ...string[]]; dir: string; reads: string[] }> {
  const folder = join(sdkPaths().root, 'templates', 'task');
  if (executor.name === 'responses') return responsesProgram(config, env);
  const { executor: given } = config.config.task;
  const [first, ...rest] =
    executor.program === null && typeof given === 'object' ? given.command : [executor.program!];
  const isPath = first!.includes('/');
  const found = isPath ? join(isAbsolute(first!) ? '/' : config.root, first!) : findProgram(first!, env);
  if (found === undefined || !isProgram(found)) {
    throw new AcorError(
      'E_RUNTIME_MISSING',
      `the executor '${executor.name}' runs '${first}', which does not exist`,
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

/**
 * The sandbox mounts the target of a link, not the link. A virtual environment is identified by its link, so it is
 * mounted as a whole.
 */
function calledAs(program: string): string {
  return existsSync(join(dirname(dirname(program)), 'pyvenv.cfg')) ? program : realpathSync(program);
}

/** A program that npm installed loads other parts from the packages beside its own. */
function packagesOf(program: string): string[] {
  const at = program.lastIndexOf('/node_modules/');
  return at === -1 ? [] : [program.slice(0, at + '/node_modules'.length)];
}

/**
 * The writable paths of a task: the configured ones. By default, everything at the top of the project except ACOR's
 * folders, dependencies, and files that other programs execute without being asked.
 */
export function writesOf(config: LoadedConfig, env: Env): string[] {
  const { writes } = config.config.task;
  if (writes !== undefined) return writes;
  const closed = closedAtTop(config, env);
  return readdirSync(config.root, { withFileTypes: true })
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map(({ name }) => name)
    .filter((name) => mayBeWritten(name, closed))
    .sort();
}

/** What is closed at the top of the project: ACOR's folders, dependencies, and what other programs execute or obey. */
export function closedAtTop(config: LoadedConfig, env: Env): string[] {
  const own = [runsDirOf(config), ...userFolders(env)].map((path) => topOf(relative(config.root, path)));
  return ['.acor', ...own, ...NEVER_WRITTEN, ...PROTECTED_FILES, ...PROTECTED_FOLDERS.map(topOf)];
}

/** Whether a task may write this entry at the top of the project. */
export function mayBeWritten(name: string, closed: readonly string[]): boolean {
  return !closed.includes(name) && !/[$*\p{Cc}]/u.test(name);
}

/** The home of the user who runs ACOR, where the programs keep their logins. */
export function userHome(env: Env): string {
  return homeFolder(env);
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
    throw new AcorError('E_USAGE', `${baseUrl} is not the address of a service: ${given}`, {
      hint: `Set it to https://host[:port]/path, or remove it from the environment: unset ${baseUrl}`,
    });
  }
  const { hostname, port, protocol } = new URL(given);
  return [`${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`, ...more];
}

/**
 * The home folder of an executor in a project. It keeps the executor's own files (mainly sessions) between runs and
 * hides the user's settings. By the XDG specification it is state; unlike ACOR's own folders, tools may access it.
 */
export function homeOf(
  { root }: LoadedConfig,
  executor: string,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const given = env['XDG_STATE_HOME'];
  const state = given && isAbsolute(given) ? given : join(homeFolder(env), '.local', 'state');
  const project = newSha256().update(root).digest('hex').slice(0, 16);
  return join(state, 'acor', 'tasks', project, executor);
}
