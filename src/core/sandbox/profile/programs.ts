import { existsSync, lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { BASE_FOLDERS as SYSTEM_FOLDERS } from '../../../util/base-folders.ts';
import { candidatesOf, interpretersOf } from '../../../util/interpreters.ts';
import { isInside } from '../../../util/real-path.ts';
import type { SandboxRequest } from '../sandbox.ts';
import { BASE_UTILITIES, SDK_UTILITIES } from './base-utilities.ts';
import { isBelow, type RealOf, realPaths } from './mounts.ts';

/** The usual folders of shared libraries; a program of the base system cannot start without them. */
const LOADERS = [
  ...['/lib64/ld-linux-x86-64.so.2', '/lib/ld-linux-aarch64.so.1', '/lib/ld-linux.so.2'],
  ...['/lib/ld-musl-x86_64.so.1', '/lib/ld-musl-aarch64.so.1'],
];
/** On systems where /bin is a real folder, it contains base utilities too. */
const BASE_FOLDERS = ['/usr/bin', '/bin'];
const SHELLS = ['bash', 'dash', 'sh', 'zsh', 'ksh', 'busybox'];

/**
 * The files and folders that a tool may execute, whether they exist or not: its own, its runtime with the packages of
 * it, and the commands in its manifest. For a shell, the base utilities belong to the runtime, unless the manifest
 * lists commands.
 */
export function executablePaths(
  request: Omit<SandboxRequest, 'network'>,
  { chain, folders: around }: Programs = programsOf(request),
): string[] {
  const { toolDir, path } = request;
  const commands = [...(request.commands ?? []), ...(request.asked ?? [])];
  const utilities = utilitiesFor(chain, request);
  const folders = BASE_FOLDERS.filter((folder) => !isLink(folder));
  const own = around.filter((each) => !isBelow(each, '/usr') && each !== '/usr');
  return [
    ...new Set([
      toolDir,
      ...chain,
      ...own,
      ...LOADERS,
      ...utilities.flatMap((name) => folders.map((folder) => join(folder, name))),
      ...commands.flatMap((name) => candidatesOf(name, path)),
    ]),
  ];
}

/** The utilities that a tool may start although its manifest lists none of them. */
export function utilitiesOf(
  request: Pick<SandboxRequest, 'runtime' | 'path' | 'language' | 'commands'>,
): readonly string[] {
  return utilitiesFor(interpretersOf(request.runtime, request.path), request);
}

function utilitiesFor(
  chain: readonly string[],
  { language, commands }: Pick<SandboxRequest, 'language' | 'commands'>,
): readonly string[] {
  // A runtime that is itself a script, such as a version manager's shim, starts further programs.
  const isScripted = chain.length > 1;
  const isShell = language === 'bash' || chain.some((each) => SHELLS.includes(basename(each)));
  if (isScripted || (isShell && !commands?.length)) return BASE_UTILITIES;
  return isShell ? SDK_UTILITIES : [];
}

/** The folders of every program in the chain of a scripted runtime. */
export function runtimePaths(request: RuntimeRequest): string[] {
  return programsOf(request).folders;
}

/**
 * What must be readable to start the commands of a manifest that have no path, and that the base system does not have: each program of the user's PATH that is not in
 * the project, and nothing around it. A program in front of one of the base system may be a script of a version manager, which needs more.
 */
export function commandPaths(
  request: RuntimeRequest & Pick<SandboxRequest, 'commands' | 'asked'>,
  realOf: RealOf,
): string[] {
  const names = [...(request.commands ?? []), ...(request.asked ?? [])];
  return names
    .filter((name) => !isAbsolute(name))
    .flatMap((name) => {
      const programs = candidatesOf(name, request.path).filter(existsSync);
      if (programs.some((program) => SYSTEM_FOLDERS.some((folder) => isBelow(program, folder)))) return [];
      return programs
        .filter((program) => isChosenByUser(program, request, realOf))
        .flatMap((program) => filesOf(program, realOf));
    });
}

/** The programs that a runtime consists of, and their folders. A caller that needs several answers looks them up once. */
export interface Programs {
  chain: readonly string[];
  folders: string[];
}

export function programsOf(request: RuntimeRequest, realOf = realPaths()): Programs {
  const chain = interpretersOf(request.runtime, request.path);
  return { chain, folders: foldersOf(chain, request, realOf) };
}

type RuntimeRequest = Pick<SandboxRequest, 'runtime' | 'path' | 'toolDir' | 'project' | 'isChosen'>;

function foldersOf(chain: readonly string[], request: RuntimeRequest, realOf: RealOf): string[] {
  let isNamedByChosen = false;
  return chain.flatMap((program) => {
    const isChosen = isNamedByChosen || isChosenByUser(program, request, realOf);
    // The first line of a program that the user installed names its interpreter; env only looks one up.
    isNamedByChosen = isChosen && basename(program) !== 'env';
    return runtimeFolders(program, isChosen, request, realOf);
  });
}

/**
 * Whether the user of this machine chose a program: it is on the PATH and not in the project. Any other program is named by a manifest or a
 * link of the project, which may be untrusted and must not open the folder around it.
 */
function isChosenByUser(
  program: string,
  { path, project, isChosen }: RuntimeRequest,
  realOf: RealOf,
): boolean {
  if (isChosen === true) return true;
  const folder = realOf(dirname(program));
  if (project !== undefined && isInside(folder, realOf(project))) return false;
  const folders = path.split(delimiter);
  return folders.includes(folder) || folders.some((each) => isAbsolute(each) && realOf(each) === folder);
}

/** Whether a program is a link; false also for one in a folder that this user may not read. */
function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

/** Folders of programs; the files of a program are beside them. */
const PROGRAM_FOLDERS = ['bin', 'sbin', 'libexec', 'shims', 'Scripts'];
/** Granting these would include too much. */
const BROAD_FOLDERS = /^\/(home|root|Users|opt|srv|var|mnt|media|tmp)?$|^\/(home|Users)\/[^/]+$/;

/** Programs of the user share it with keyrings, histories and the data of other programs, which are in `share` and `state`. */
const SHARED_FOLDERS = /^\/(root|(home|Users)\/[^/]+)\/\.local$/;

/** What must be readable to run a program outside of the base system: the program and its installation. */
function runtimeFolders(
  program: string,
  isChosen: boolean,
  request: RuntimeRequest,
  realOf: RealOf,
): string[] {
  const found = [program];
  const environment = dirname(dirname(program));
  // Beside a tool is the environment that the tools share.
  const own = realOf(request.project ?? dirname(request.toolDir));
  const isOwn = isChosen || isInside(realOf(environment), own);
  // Python finds its virtual environment through the path it was started by.
  if (isOwn && existsSync(join(environment, 'pyvenv.cfg')) && !isBroad(environment, realOf))
    found.push(environment);
  if (!isChosen) return [...new Set([...found, ...filesOf(program, realOf)])];
  found.push(...installationOf(realOf(program), realOf));
  if (!isLink(program)) found.push(...installationOf(program, realOf));
  return [...new Set(found)];
}

/** A program without what is around it. */
function filesOf(program: string, realOf: RealOf): string[] {
  const real = realOf(program);
  return [program, ...linksBehind(program, realOf), real, ...standardLibraryOf(real)];
}

const MOST_LINKS = 40;

/** The links between a link and what it leads to in the end: `venv/bin/python` may lead to `python3`, and that to `python3.12`. */
function linksBehind(program: string, realOf: RealOf): string[] {
  const links: string[] = [];
  let at = program;
  while (isLink(at) && links.length < MOST_LINKS) {
    at = resolve(realOf(dirname(at)), readlinkSync(at));
    links.push(at);
  }
  return links;
}

/** The modules of a Python without which it does not start: a virtual environment of the project links to one that is not on the PATH. */
function standardLibraryOf(program: string): string[] {
  const library = join(dirname(dirname(program)), 'lib');
  const modules = entriesOf(library).filter((name) => existsSync(join(library, name, 'os.py')));
  if (modules.length === 0) return [];
  const shared = entriesOf(library).filter((name) => /^libpython[\d.a-z]*\.so/.test(name));
  return [...modules, ...shared].map((name) => join(library, name));
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** `/opt/python/bin/python3` belongs to `/opt/python`; a program in no `bin` folder belongs to no installation. */
function installationOf(program: string, realOf: RealOf): string[] {
  const folder = dirname(program);
  const above = dirname(folder);
  if (!PROGRAM_FOLDERS.includes(basename(folder)) || isBroad(above, realOf)) return [program];
  return SHARED_FOLDERS.test(realOf(above)) ? [program, join(above, 'lib')].filter(existsSync) : [above];
}

/** A tool's folder may contain a link to a home. */
function isBroad(folder: string, realOf: RealOf): boolean {
  return BROAD_FOLDERS.test(folder) || BROAD_FOLDERS.test(realOf(folder));
}
