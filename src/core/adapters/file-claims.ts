import { lstatSync, type Stats } from 'node:fs';
import { resolve } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import type { FileChange } from '../../protocol/markers/marker.ts';
import { isInside } from '../registry/real-path.ts';
import type { AdapterContext } from '../run/attempt/adapter.ts';
import { artifactRoots } from '../run/attempt/collect-artifacts.ts';
import { type MeasuredArtifact, measureArtifact } from '../store-files/artifacts.ts';

/** What a program says it did to a file; `holds` says whether the disk agrees. */
export interface ReportedFile {
  path: string;
  change: FileChange | null;
  holds: boolean;
}

const MAX_FILES = 10_000;
/** The clock of a file system may be a little behind. */
const CLOCK_SLACK_MS = 50;

/** The files that a program tells of, held against the disk at its end (contract §8). What does not hold is told by a `runner_warning`. */
export class FileClaims {
  readonly #context: AdapterContext;
  readonly #claims = new Map<string, FileChange | null>();
  /** Found, and measured by the runner itself. */
  readonly measured: MeasuredArtifact[] = [];
  readonly told: ReportedFile[] = [];

  constructor(context: AdapterContext) {
    this.#context = context;
  }

  /** Takes note of a file; of several words on one file the last counts, but what was created stays so when it is changed. */
  add(path: string, change: FileChange | null): void {
    const known = this.#claims.get(path);
    if (known === 'created' && change !== 'deleted') return;
    if (known === undefined && this.#claims.size >= MAX_FILES) {
      this.#context.intake.warnOnce(
        'files',
        'E_PROTOCOL',
        `the tool tells of more than ${MAX_FILES} files; the others are left out`,
      );
    } else this.#claims.set(path, change);
  }

  /** Holds everything against the disk. Once, when the program has ended. */
  settle(): void {
    for (const [path, change] of this.#claims) {
      const problem = this.#problemOf(path, change);
      this.told.push({ path, change, holds: problem === undefined });
      if (problem === undefined) continue;
      const word = { path, ...(change !== null && { change }) };
      this.#context.intake.warnOnce(`file:${path}`, 'E_PROTOCOL', problem, word);
    }
    this.#claims.clear();
  }

  #problemOf(path: string, change: FileChange | null): string | undefined {
    const says = `the tool says that it has ${change ?? 'changed'} ${path}`;
    const places = this.#placesOf(path);
    if (places.length === 0) return `${says}, which lies outside the workspace and the granted paths`;
    const found = places.map(statOf).find((each) => each !== undefined);
    if (change === 'deleted') return found === undefined ? undefined : `${says}, and it is still there`;
    if (found === undefined) return `${says}, and there is no such file`;
    const { stats } = found;
    const before = this.#context.runMadeMs - CLOCK_SLACK_MS;
    if (this.#lastTouchMs(stats) < before) return `${says}, and it has not changed since the run began`;
    try {
      this.measured.push(
        measureArtifact(found.path, artifactRoots(this.#context.plan, this.#context.layout)),
      );
    } catch (error) {
      if (!(error instanceof AcorError)) throw error;
      return `${says}: ${error.message}`;
    }
    // A system that does not keep the time of birth tells 0.
    return change === 'created' && stats.birthtimeMs > 0 && stats.birthtimeMs < before
      ? `${says}, and it was there before the run`
      : undefined;
  }

  /** The time of status is the surest, but for root's runs: their granted files change their owner before the tool starts. */
  #lastTouchMs({ mtimeMs, birthtimeMs, ctimeMs }: Stats): number {
    return Math.max(mtimeMs, birthtimeMs, this.#context.plan.sandboxed.changesUser ? 0 : ctimeMs);
  }

  /** Where the file may be: where the tool works, in the workspace, or in a folder that the run may write. */
  #placesOf(path: string): string[] {
    const { plan, layout } = this.#context;
    const granted = plan.grants.filter(({ access }) => access === 'write').map((grant) => grant.path);
    const { worksIn } = plan.tool;
    const bases = [...(worksIn === undefined ? [] : [worksIn]), layout.work, ...granted];
    const places = new Set(bases.map((base) => resolve(base, path)));
    return [...places].filter((place) => [...bases, layout.artifacts].some((base) => isInside(place, base)));
  }
}

function statOf(path: string): { path: string; stats: Stats } | undefined {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats === undefined ? undefined : { path, stats };
  } catch {
    // A part of the way is no folder, or may not be entered.
    return undefined;
  }
}
