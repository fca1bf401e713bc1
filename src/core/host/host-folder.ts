import { lstatSync, readdirSync, rmdirSync, rmSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../util/error-code.ts';
import { IS_COMPILED } from '../../util/is-compiled.ts';
import { identify, isRunning, readProcess } from '../../util/process-table.ts';
import { newSha256 } from '../../util/sha256.ts';
import { ACOR_VERSION } from '../../util/version.ts';
import { findProject, sessionFolder, userFolder } from '../config/find.ts';
import { inheritedFrom } from './caller.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Variables that a process reads once, at its start. */
export const READ_AT_START =
  /^(?:HOME|PATH|TZ|TMPDIR|LANG|LANGUAGE|LC_\w+|LD_\w+|MALLOC_\w+|XDG_\w+|BUN_\w+|NODE_\w+|SSL_CERT_\w+|OPENSSL_\w+|\w+_proxy|\w+_PROXY)$/;
const KEY_CHARS = 32;
const NAME = /^(\d+)-(\d+)\.(idle|busy)$/;
/** A process that starts has this long until another one may be started. */
export const START_LIMIT_MS = 30_000;
export const STARTING = 'starting';
export const TERMS = 'terms';

/** A process of the host, by the name of its socket. */
export interface HostProcess {
  pid: number;
  state: 'idle' | 'busy';
  /** The name of its socket in the folder. */
  name: string;
}

/** Where the processes of hosts listen: the session's folder for sockets, else the user's cache. */
export function hostsFolder(env: Env): string {
  return join(ownFolder(env), 'host');
}

/** Whether a process of any host of this user seems to wait: what a caller must know of itself to choose one takes longer to read. */
export function hasWaiting(env: Env): boolean {
  const all = hostsFolder(env);
  for (const folder of namesIn(all))
    for (const name of namesIn(`${all}/${folder}`)) if (name.endsWith('.idle')) return true;
  return false;
}

/** Where the processes of this user that start at once take turns. */
export function turnsFolder(env: Env): string {
  return join(ownFolder(env), 'turns');
}

function ownFolder(env: Env): string {
  return sessionFolder(env) ?? userFolder('XDG_CACHE_HOME', '.cache', env);
}

/**
 * The folder of the host for a caller: of this user, project and program, and for what the tools of such a caller inherit. Everything that it
 * depends on is in its name, so that a caller never meets a process that would run its tools in another way. Undefined where no process may
 * stand in for the caller.
 */
export function hostFolder(cwd: string, env: Env): string | undefined {
  if (!IS_COMPILED || process.platform !== 'linux') return undefined;
  const inherited = inheritedFrom('self');
  if (inherited === undefined) return undefined;
  const { dev, ino, size, mtimeMs } = statSync(process.execPath);
  const parts = [
    ACOR_VERSION,
    [process.execPath, dev, ino, size, mtimeMs],
    findProject(cwd).root,
    Object.entries(variablesAtStart(env)).sort(([left], [right]) => (left < right ? -1 : 1)),
    inherited,
  ];
  const key = newSha256().update(JSON.stringify(parts)).digest('hex').slice(0, KEY_CHARS);
  return join(hostsFolder(env), key);
}

/**
 * What a caller knows of itself without a hash: its program, its project and its variables of the start, in the file `TERMS` of the folder. By it
 * `call-host.pl` chooses a host. What tools inherit is not part of it: the process refuses a caller whose tools would inherit something else.
 */
export function termsOf(cwd: string, env: Env): string {
  const { dev, ino, size, mtimeMs } = statSync(process.execPath);
  const variables = Object.entries(variablesAtStart(env))
    .map(([name, value]) => `${name}=${value}`)
    .sort();
  return [dev, ino, size, Math.floor(mtimeMs / 1000), findProject(cwd).root, ...variables].join('\0');
}

/** The variables that belong to a process of the host; it gets all others with each call. */
export function variablesAtStart(env: Env): Record<string, string> {
  const given = Object.entries(env).filter(
    ([name, value]) => value !== undefined && READ_AT_START.test(name),
  );
  return Object.fromEntries(given as [string, string][]);
}

/** The folders of all hosts of this user. */
export function foldersOfHosts(env: Env): string[] {
  const all = hostsFolder(env);
  return namesIn(all)
    .map((name) => join(all, name))
    .filter(isPrivate);
}

/** Whether the folder is this user's alone: another user could otherwise listen there. False where it does not exist. */
export function isPrivate(folder: string): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0;
}

/** The name of this process's socket, without its state. */
export function ownName(): string {
  return `${process.pid}-${readProcess(process.pid)?.startTime ?? 0}`;
}

/** What the folder contains; names of other files are left out. */
export function processesIn(folder: string): HostProcess[] {
  return namesIn(folder).flatMap((name) => {
    const [, pid, , state] = NAME.exec(name) ?? [];
    return state === undefined ? [] : [{ pid: Number(pid), state: state as HostProcess['state'], name }];
  });
}

/** Whether the process of a socket still runs. */
export function isLive({ pid, name }: HostProcess): boolean {
  return isRunning({ ...identify(pid), start_time: Number(NAME.exec(name)?.[2]) });
}

/**
 * Removes the socket of a process, and returns the state in which it was removed. Undefined where the process or another caller has removed it.
 * The name may have changed since it was read: a caller that claims the process renames the socket, and so does the process after its call.
 */
export function removeSocket(folder: string, { name }: HostProcess): HostProcess['state'] | undefined {
  // No process is claimed, called and waiting again between two of these steps.
  for (const state of ['busy', 'idle', 'busy'] as const)
    try {
      unlinkSync(join(folder, name.replace(/\w+$/, state)));
      return state;
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  return undefined;
}

/** Removes the folder of a host in which no process listens and none starts. A socket stays: its process may be of another container. */
export function removeIfLeft(folder: string): void {
  if (namesIn(folder).some((name) => name !== TERMS)) return;
  try {
    rmSync(join(folder, TERMS), { force: true });
    rmdirSync(folder);
  } catch {
    // A caller has begun to use it again.
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
