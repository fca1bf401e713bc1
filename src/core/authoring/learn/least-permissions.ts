import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { isInside } from '../../../util/real-path.ts';
import type { ObservedUse } from './read-trace.ts';

/** A permission that the run needed, and the observation that shows it. */
export interface Learned {
  permission: 'filesystem.read' | 'filesystem.write' | 'network.egress_allow' | 'commands';
  value: string;
  evidence: string;
}

/** Something that the tool tried and that was refused, so that no permission is drafted for it. */
export interface Refused {
  what: string;
  why: string;
}

/** What is known of the run besides the trace. */
export interface Surroundings {
  project: string;
  /** Folders and files that the tool may use without any permission. */
  own: readonly string[];
  /** Paths that its arguments grant. */
  argumentPaths: readonly string[];
  /** The project, and what else the tool was granted while it was observed. */
  granted: readonly string[];
  /** ACOR's own folders, of which nothing is ever drafted. */
  hidden: readonly string[];
  /** The files and folders that it may execute without naming a command, and those that it may execute when it names some. */
  executable: { alone: readonly string[]; withCommands: readonly string[] };
}

const MAX_PATHS = 20;
/** Of the base system, which every tool may read. */
const BASE = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/etc',
  '/proc',
  '/dev',
  '/sys',
  '/tmp',
  '/run',
];

/** The least permissions under which the run would have gone as it went. What a manifest cannot express, or was refused, is named beside them. */
export function leastPermissions(
  uses: Iterable<ObservedUse>,
  about: Surroundings,
): { learned: Learned[]; refused: Refused[] } {
  const reads = new Map<string, string>();
  const writes = new Map<string, string>();
  const executed = new Map<string, string>();
  const refused = new Map<string, Refused>();
  const isIn = (path: string, folders: readonly string[]) => folders.some((each) => isInside(path, each));
  // The folder of a project may be below one of the base system, such as /tmp.
  const isFree = (path: string) =>
    path === '/' ||
    isIn(path, [...about.own, ...about.argumentPaths]) ||
    (isIn(path, BASE) && !isIn(path, about.granted));
  const isKept = (path: string) => about.hidden.some((each) => isInside(path, each));
  for (const { path, use, succeeded, error, call } of uses) {
    if (use === 'execute') {
      if (succeeded) executed.set(path, `${call} of ${path}`);
      continue;
    }
    if (isFree(path) || isKept(path)) continue;
    if (!succeeded) {
      // A file that is nowhere is no permission that was missing.
      if (existsSync(path) || error === 'EROFS' || error === 'EACCES')
        refused.set(path, { what: `${use} ${path}`, why: error ?? 'refused' });
      continue;
    }
    if (use === 'read' || use === 'list') reads.set(path, `${call} of ${path}`);
    else {
      // An entry that is made or removed needs its folder; a file that was there needs only itself.
      const place = use === 'change' || !existsSync(path) ? dirname(path) : path;
      if (!writes.has(place)) writes.set(place, `${call} of ${path}`);
    }
  }
  const learned: Learned[] = [];
  const add = (permission: Learned['permission'], found: Map<string, string>) => {
    for (const [path, evidence] of collapsed(found)) {
      const value = written(path, about.project);
      if (value === undefined) refused.set(path, { what: path, why: 'a manifest cannot name this path' });
      else learned.push({ permission, value, evidence });
    }
  };
  add('filesystem.write', withoutInner(writes));
  add(
    'filesystem.read',
    new Map([...reads].filter(([path]) => ![...writes.keys()].some((each) => isInside(path, each)))),
  );
  for (const [value, evidence] of commandsOf(executed, about)) {
    if (/^[A-Za-z0-9][\w.+-]*$/.test(value)) learned.push({ permission: 'commands', value, evidence });
    else refused.set(value, { what: `start ${value}`, why: 'a manifest cannot name this program' });
  }
  return { learned, refused: [...refused.values()] };
}

/** The programs by name. A shell without commands may start the base utilities; with one, it must name those that it needs as well. */
function commandsOf(
  executed: ReadonlyMap<string, string>,
  { executable }: Surroundings,
): [name: string, evidence: string][] {
  const beyond = (allowed: readonly string[]) =>
    [...executed].filter(([path]) => !allowed.some((each) => isInside(path, each)));
  if (beyond(executable.alone).length === 0) return [];
  const named = new Map(
    beyond(executable.withCommands).map(([path, evidence]) => [basename(path), evidence]),
  );
  return [...named].sort();
}

/** Many files of one folder become the folder; what is in a folder that is there already is left out. */
function collapsed(found: ReadonlyMap<string, string>): Map<string, string> {
  let paths = new Map([...found].sort());
  for (;;) {
    paths = withoutInner(paths);
    if (paths.size <= MAX_PATHS) return paths;
    const counts = new Map<string, number>();
    for (const path of paths.keys()) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    const [folder, count] = [...counts].sort((a, b) => b[1] - a[1] || b[0].length - a[0].length)[0]!;
    if (count < 2) return paths;
    paths.set(folder, `${count} files in it`);
  }
}

function withoutInner(paths: ReadonlyMap<string, string>): Map<string, string> {
  const all = [...paths.keys()];
  return new Map([...paths].filter(([path]) => !all.some((each) => each !== path && isInside(path, each))));
}

/** The path as a manifest has it. A name with a meaning of its own there would grant something else. */
function written(path: string, project: string): string | undefined {
  if (/[*$~\p{Cc}]/u.test(path) || path === project) return undefined;
  return isInside(path, project) ? `\${PROJECT}${path.slice(project.length)}` : path;
}
