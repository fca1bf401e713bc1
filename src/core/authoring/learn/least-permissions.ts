import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { hasMeaning } from '../../../protocol/names.ts';
import { isInside } from '../../../util/real-path.ts';
import type { ObservedUse } from './read-trace.ts';

/** A permission that the run needed, and the observation that shows it. */
export interface Learned {
  permission: 'filesystem.read' | 'filesystem.write' | 'network.egress_allow' | 'commands';
  value: string;
  evidence: string;
}

/** Something that the tool tried and that was refused, or that no line of a manifest allows. */
export interface Refused {
  what: string;
  why: string;
}

/** What is known of the run besides the trace. Paths are real. */
export interface Surroundings {
  project: string;
  /** Its run's folders and its own files, which it may use without any permission. */
  own: readonly string[];
  /** Of these, the folders that it writes. */
  workspace: readonly string[];
  argumentGrants: readonly { path: string; access: 'read' | 'write' }[];
  /** Paths that it was granted while it was observed. Whatever else it used needs no permission. */
  granted: readonly string[];
  /** ACOR's own folders, of which nothing is ever drafted. */
  hidden: readonly string[];
  /** The files and folders that it may execute without naming a command, and those that it may execute when it names some. */
  executable: { alone: readonly string[]; withCommands: readonly string[] };
  /** The PATH by which a manifest's commands are found. */
  path: string;
  /** A program, and the interpreters that its first lines name. */
  interpretersOf(program: string): readonly string[];
}

/** More lines than this are drafted as the folders that contain the files. */
const MAX_PATHS = 20;
/** Of the base system: programs try to write there, such as caches of modules. */
const BASE = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/etc', '/proc', '/dev', '/sys', '/run'];
/** Links in them lead elsewhere for each process (`/proc/self/cwd`), so what ACOR would find there is not what the tool found. */
const OWN_OF_PROCESS = ['/proc', '/dev'];
const REFUSALS = ['EACCES', 'EPERM', 'EROFS'];
const NO_LINE = 'no line of a manifest can name it';

/** The least permissions under which the run would have ended in the same way. What a manifest cannot express, or was refused, is named beside them. */
export function leastPermissions(
  uses: Iterable<ObservedUse>,
  about: Surroundings,
): { learned: Learned[]; refused: Refused[] } {
  const found = sorted(uses, about);
  const learned: Learned[] = [];
  const refused = new Map<string, Refused>();
  const refuse = (what: string, why: string) => refused.set(what, { what, why });
  const add = (permission: Learned['permission'], paths: ReadonlyMap<string, string>) => {
    for (const [path, evidence] of paths) {
      const value = written(path, about.project);
      if (value === undefined) refuse(`${permission} of ${path}`, NO_LINE);
      else learned.push({ permission, value, evidence });
    }
  };
  const writes = collapsed(found.writes, about.project);
  const isWritten = (path: string) => [...writes.keys()].some((each) => isInside(path, each));
  const reads = new Map([...found.reads].filter(([path]) => !isWritten(path)));
  const known = [...writes.keys(), ...reads.keys()];
  // A folder above a granted path exists for the tool; what it only asked for needs nothing more.
  for (const [path, evidence] of found.looks)
    if (!known.some((each) => isInside(each, path) || isInside(path, each))) reads.set(path, evidence);
  add('filesystem.write', writes);
  add('filesystem.read', collapsed(reads, about.project));
  for (const { path, use, error } of found.failed)
    if (!isWritten(path)) refuse(`${use} ${path}`, error ?? 'refused');
  for (const [path, evidence] of commandsOf(found.executed, about)) {
    const value = commandName(path, about);
    if (value === undefined) refuse(`start ${path}`, NO_LINE);
    else if (!learned.some((each) => each.permission === 'commands' && each.value === value))
      learned.push({ permission: 'commands', value, evidence });
  }
  return { learned, refused: [...refused.values()] };
}

interface SortedUses {
  reads: Map<string, string>;
  writes: Map<string, string>;
  looks: Map<string, string>;
  executed: Map<string, string>;
  failed: ObservedUse[];
}

function sorted(uses: Iterable<ObservedUse>, about: Surroundings): SortedUses {
  const found: SortedUses = {
    reads: new Map(),
    writes: new Map(),
    looks: new Map(),
    executed: new Map(),
    failed: [],
  };
  const isIn = (path: string, folders: readonly string[]) => folders.some((each) => isInside(path, each));
  const argumentPaths = (access: 'read' | 'write') =>
    about.argumentGrants
      .filter((each) => access === 'read' || each.access === 'write')
      .map(({ path }) => path);
  const isFree = (path: string, access: 'read' | 'write') =>
    isIn(path, about.own) || isIn(path, argumentPaths(access)) || !isIn(path, about.granted);
  const keep = (places: Map<string, string>, path: string, evidence: string) => {
    for (const link of linksIn(path))
      if (!isFree(link, 'read')) keepFirst(found.reads, dirname(link), evidence);
    const real = realOf(path);
    if (!isFree(real, places === found.writes ? 'write' : 'read')) keepFirst(places, real, evidence);
  };
  for (const each of uses) {
    const { path, use, succeeded, call } = each;
    const evidence = `${call} of ${path}`;
    if (isIn(path, OWN_OF_PROCESS) || (isIn(path, about.hidden) && !isIn(path, about.own))) continue;
    if (!succeeded) {
      if (wasRefused(each) && !isIn(path, [...about.own, ...BASE])) found.failed.push(each);
    } else if (use === 'execute') keepFirst(found.executed, path, evidence);
    else if (use === 'look') keep(found.looks, path, evidence);
    else if (use === 'read' || use === 'list') keep(found.reads, path, evidence);
    // An entry that is made or removed needs its folder; a file that was there needs only itself.
    else keep(found.writes, use === 'change' || !existsSync(path) ? dirname(path) : path, evidence);
  }
  return found;
}

/** A file that is nowhere is no permission that was missing. */
function wasRefused({ path, use, error }: ObservedUse): boolean {
  if (use === 'look') return error === 'ENOENT' && existsSync(path);
  return REFUSALS.includes(error ?? '') || (error === 'ENOENT' && existsSync(path));
}

function keepFirst(places: Map<string, string>, path: string, evidence: string): void {
  if (!places.has(path)) places.set(path, evidence);
}

/** The links on the way to a path. A tool that goes through one needs the folder that holds it. */
function linksIn(path: string): string[] {
  const links: string[] = [];
  for (let at = path; at !== dirname(at); at = dirname(at))
    if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink()) links.push(at);
  return links;
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realOf(above), basename(path));
  }
}

/** The programs that need a line. A shell without commands may start the base utilities; with one, it must name those that it needs as well. */
function commandsOf(
  executed: ReadonlyMap<string, string>,
  { executable, interpretersOf }: Surroundings,
): [path: string, evidence: string][] {
  const all = [...executed].flatMap(([path, evidence]) =>
    interpretersOf(path).map((each) => [each, evidence] as [string, string]),
  );
  const beyond = (allowed: readonly string[]) => {
    const real = allowed.map(realOf);
    return all.filter(([path]) => !real.some((each) => isInside(realOf(path), each)));
  };
  return beyond(executable.alone).length === 0 ? [] : beyond(executable.withCommands);
}

/** The name by which the PATH leads to the program, else its path. What a run has made itself cannot be named. */
function commandName(program: string, { path, workspace }: Surroundings): string | undefined {
  const name = basename(program);
  if (hasMeaning(program) || workspace.some((each) => isInside(program, each))) return undefined;
  const isNamed = path.split(delimiter).some((folder) => realOf(join(folder, name)) === realOf(program));
  return isNamed ? name : program;
}

/** Many files of one folder become the folder, but never the project itself; what is in a folder that is there already is left out. */
function collapsed(found: ReadonlyMap<string, string>, project: string): Map<string, string> {
  let paths = new Map([...found].sort());
  for (;;) {
    paths = withoutInner(paths);
    if (paths.size <= MAX_PATHS) return paths;
    const counts = new Map<string, number>();
    for (const path of paths.keys()) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    const [folder, count] = [...counts]
      .filter(([each]) => isInside(each, project) && each !== project)
      .sort((a, b) => b[1] - a[1] || b[0].length - a[0].length)[0] ?? ['', 0];
    if (count < 2) return paths;
    paths.set(folder, `${count} files in it`);
  }
}

function withoutInner(paths: ReadonlyMap<string, string>): Map<string, string> {
  const all = [...paths.keys()];
  return new Map([...paths].filter(([path]) => !all.some((each) => each !== path && isInside(path, each))));
}

/** The path as a manifest has it. */
function written(path: string, project: string): string | undefined {
  const inner = isInside(path, project) ? path.slice(project.length) : undefined;
  if (hasMeaning(inner ?? path) || path === project) return undefined;
  return inner === undefined ? path : `\${PROJECT}${inner}`;
}
