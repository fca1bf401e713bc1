import { lstatSync, type Stats } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import type { FileChange } from '../../protocol/markers/marker.ts';
import { OpenFolder } from '../../util/open-folder.ts';
import { isInside } from '../../util/real-path.ts';
import { walkTree } from '../../util/walk-tree.ts';
import type { AdapterContext } from '../run/attempt/adapter.ts';
import { stagedPath, writtenAt } from '../run/attempt/outputs.ts';
import type { MeasuredArtifact } from '../store-files/artifacts.ts';

/** A program's claim about a file; `holds` is whether the disk agrees. */
export interface ReportedFile {
  path: string;
  change: FileChange | null;
  holds: boolean;
}

const MAX_FILES = 10_000;
/** In larger folders a deletion cannot be checked. */
const MAX_FILES_BEFORE = 50_000;
/** The clock of the file system may lag behind. */
const CLOCK_SLACK_MS = 50;

/**
 * The files that a program claims to have changed, verified on disk at its end (contract §8). A false claim becomes a
 * `runner_warning`.
 */
export class FileClaims {
  readonly #context: AdapterContext;
  readonly #claims = new Map<string, FileChange | null>();
  /** The files at the start, where the program may write; undefined when there are too many. */
  readonly #before: ReadonlySet<string> | undefined;
  /** Files that exist, measured by the runner itself. */
  readonly measured: MeasuredArtifact[] = [];
  readonly verified: ReportedFile[] = [];

  constructor(context: AdapterContext) {
    this.#context = context;
    this.#before = filesIn(writtenPlaces(context));
  }

  /**
   * Records a claim. For several claims about one file the last one counts, but a created and then modified file stays
   * created.
   */
  add(path: string, change: FileChange | null): void {
    const known = this.#claims.get(path);
    if (known === 'created' && change === 'deleted') this.#claims.delete(path);
    if (known === 'created') return;
    if (known === undefined && this.#claims.size >= MAX_FILES) {
      this.#context.intake.warnOnce(
        'files',
        'E_PROTOCOL',
        `the tool reports more than ${MAX_FILES} files; the others are ignored`,
      );
    } else this.#claims.set(path, change);
  }

  /** Verifies all claims on disk. Call it once, after the program has exited. */
  async settle(): Promise<void> {
    for (const [path, change] of this.#claims) {
      const problem = await this.#problemOf(path, change);
      this.verified.push({ path, change, holds: problem === undefined });
      if (problem === undefined) continue;
      const word = { path, ...(change !== null && { change }) };
      this.#context.intake.warnOnce(`file:${path}`, 'E_PROTOCOL', problem, word);
    }
    this.#claims.clear();
  }

  async #problemOf(path: string, change: FileChange | null): Promise<string | undefined> {
    const says = `the tool says that it has ${change ?? 'changed'} ${path}`;
    const places = this.#placesOf(path);
    if (places.length === 0) return `${says}, which lies outside the workspace and the granted paths`;
    const found = places.map(statOf).find((each) => each !== undefined);
    if (change === 'deleted') {
      if (found !== undefined) return `${says}, and it is still there`;
      const wasThere = this.#before === undefined || places.some((place) => this.#before!.has(place));
      return wasThere ? undefined : `${says}, and there was no such file before`;
    }
    if (found === undefined) return `${says}, and there is no such file`;
    const { stats } = found;
    const before = this.#context.runCreatedMs - CLOCK_SLACK_MS;
    if (this.#lastTouchMs(stats) < before) return `${says}, and it has not changed since the run began`;
    try {
      this.measured.push(await this.#context.meter.measure(found.path));
    } catch (error) {
      if (!(error instanceof AcorError) || error.code === 'E_DEADLINE') throw error;
      return `${says}: ${error.message}`;
    }
    // A file system without birth times returns 0.
    return change === 'created' && stats.birthtimeMs > 0 && stats.birthtimeMs < before
      ? `${says}, and it was there before the run`
      : undefined;
  }

  /**
   * The change time is the most reliable, except in root's runs, where the granted files change their owner before the
   * tool starts.
   */
  #lastTouchMs({ mtimeMs, birthtimeMs, ctimeMs }: Stats): number {
    return Math.max(mtimeMs, birthtimeMs, this.#context.plan.sandboxed.changesUser ? 0 : ctimeMs);
  }

  /** The candidates for the file: below the working directory, in the workspace, or in a writable folder of the run. */
  #placesOf(path: string): string[] {
    const { plan, layout } = this.#context;
    const granted = plan.grants.filter(({ access }) => access === 'write').map((grant) => grant.path);
    const { worksIn, newFilesIn } = plan.tool;
    const bases = [...(worksIn === undefined ? [] : [worksIn]), layout.work, ...granted];
    const places = new Set(bases.map((base) => stagedPath(resolve(base, path), plan.staged)));
    if (worksIn !== undefined && newFilesIn !== undefined) {
      const claimed = resolve(worksIn, path);
      if (isInside(claimed, worksIn)) places.add(join(layout.work, newFilesIn, relative(worksIn, claimed)));
    }
    return [...places]
      .filter((place) => [...bases, layout.artifacts].some((base) => isInside(place, base)))
      .map((place) => writtenAt(place, plan.grants))
      .map((place) => plan.secrets?.fileOf(place) ?? place);
  }
}

function writtenPlaces({ plan, layout }: AdapterContext): string[] {
  const written = plan.grants.filter(({ access }) => access === 'write');
  return [layout.work, ...written.map(({ path, from }) => from ?? path)];
}

/** The paths of all files in folders; undefined when there are too many. */
function filesIn(places: readonly string[]): ReadonlySet<string> | undefined {
  const found = new Set<string>();
  for (const place of places) {
    const stats = lstatSync(place, { throwIfNoEntry: false });
    if (stats === undefined) continue;
    if (!stats.isDirectory()) {
      found.add(place);
      continue;
    }
    using folder = OpenFolder.trusted(place);
    for (const step of walkTree(folder)) {
      if (step.kind === 'entry') found.add(step.path);
      if (found.size > MAX_FILES_BEFORE) return undefined;
    }
  }
  return found;
}

function statOf(path: string): { path: string; stats: Stats } | undefined {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats === undefined ? undefined : { path, stats };
  } catch {
    // A part of the path is not a folder, or is not accessible.
    return undefined;
  }
}
