import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { ACOR, Running, type TestProject } from './project.ts';

const canTrace = spawnSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'ignore' }).status === 0;
export const needsStrace = canTrace ? {} : { skip: 'needs strace' };

/** A kind of fault: the error that the kernel returns for these system calls. */
export interface FaultKind {
  name: string;
  error: string;
  calls: readonly string[];
}

export const FAULT_KINDS = {
  sync: { name: 'sync', error: 'EIO', calls: ['fsync', 'fdatasync'] },
  write: { name: 'write', error: 'ENOSPC', calls: ['write', 'pwrite64', 'writev'] },
  open: { name: 'open', error: 'EMFILE', calls: ['openat', 'open'] },
  rename: { name: 'new name', error: 'ENOSPC', calls: ['rename', 'link', 'mkdir'] },
} as const satisfies Record<string, FaultKind>;

/** One system call of a command: the n-th of its name. */
export interface Place {
  call: string;
  number: number;
  /** The path below `.runs` with ids replaced, so that it is the same in each run of the command. */
  path: string;
  failed: boolean;
}

/** A fault at one place: once, or from then on. */
export interface Fault {
  place: Place;
  persists: boolean;
}

/**
 * Starts a command under strace. strace counts the calls of each thread on its own: without `follows` only those of the command's main
 * thread, where ACOR does its work with files; with it also those of the processes that it starts.
 */
export function startTraced(
  project: TestProject,
  args: readonly string[],
  kind: FaultKind,
  { place, persists, follows }: Partial<Fault> & { follows: boolean },
): Running {
  const when = place && `${place.call}:error=${kind.error}:when=${place.number}${persists ? '+' : ''}`;
  const argv = [
    ...(follows ? ['-f'] : []),
    ...['-qqq', '-y', '-s', '0', '-o', project.path('trace'), '-e', `trace=${kind.calls.join(',')}`],
    ...(when === undefined ? [] : ['-e', `inject=${when}`]),
    ...[ACOR, ...args],
  ];
  const running = new Running(
    spawn('strace', argv, {
      cwd: project.root,
      env: project.environment(),
      stdio: ['pipe', 'pipe', 'pipe'],
    }),
  );
  running.child.stdin!.end();
  return running;
}

/** The calls below `.runs` that the last traced command of a project made, with their numbers. */
export function placesOf(project: TestProject): Place[] {
  const counts = new Map<string, number>();
  return readFileSync(project.path('trace'), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, pid = '', call] = /^(\d+ +)?([a-z0-9]+)\(/.exec(line) ?? [];
      if (call === undefined) return [];
      const number = (counts.get(pid + call) ?? 0) + 1;
      counts.set(pid + call, number);
      const path = /[<"](?:[^<"]*\/)?(\.runs(?:\/[^>"]*)?)[>"]/.exec(line)?.[1];
      return path === undefined
        ? []
        : [{ call, number, path: kindOfPath(path), failed: line.includes(' = -1 ') }];
    });
}

function kindOfPath(path: string): string {
  return path
    .replace(/(?<=\/)r-[0-9a-z]{10,}(@\d+)?/g, '<run>')
    .replace(/\.\d+-\w+-\d+\.tmp/, '.tmp')
    .replace(/\.lock\.\d+-\d+/, '.lock.tmp')
    .replace(/[0-9a-f]{16,64}/g, '<hex>');
}

/** Every call, or the first one of each name on each kind of path. */
export function chosenOf(places: readonly Place[], { every }: { every: boolean }): Place[] {
  const keyOf = ({ call, number, path }: Place) => (every ? `${call} ${number}` : `${call} ${path}`);
  const chosen = new Map<string, Place>();
  for (const place of places) if (!chosen.has(keyOf(place))) chosen.set(keyOf(place), place);
  return [...chosen.values()];
}
