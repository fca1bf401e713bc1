import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { applyRun, diffRun, discardRun, type NextStep, undoRun } from '../../protocol/next-steps.ts';
import { parseObject } from '../../util/parse-object.ts';
import { readOwn } from '../../util/regular-file.ts';
import { KEPT } from '../store-files/layout.ts';

/**
 * `review`: the tool writes a copy, which a person or agent applies later. `snapshot`: the tool writes the place itself, after a copy was
 * made, from which it can be restored.
 */
export type KeptMode = 'review' | 'snapshot';

/**
 * `open`: the run is at work, or its supervisor died. `pending`: there are changes to apply, or to undo. `too_large`: the tool has left more
 * than ACOR compares.
 */
export type KeptState = 'open' | 'pending' | 'too_large' | 'unchanged' | 'applied' | 'discarded' | 'undone';

export interface UndecidedPlace {
  path: string;
  mode: KeptMode;
  state: 'open' | 'pending' | 'too_large';
}

/** The file that lists the kept places of a run. */
export function indexOf(dir: string): string {
  return join(dir, KEPT, 'index.json');
}

/** The places of a run whose changes are undecided. An index that cannot be read counts as one. Loads nothing for other runs. */
export function undecidedPlaces(dir: string): UndecidedPlace[] {
  return undecidedOf(dir).places;
}

/**
 * Why a run must not be removed or packed by a rule: its layer has changes that exist nowhere else, or only the run knows which file a
 * killed `acor undo` left. Undefined for other runs.
 */
export function whyKept(dir: string): string | undefined {
  const { places, isUnfinished } = undecidedOf(dir);
  const place = places.find(({ mode }) => mode === 'review');
  if (place !== undefined) return `its changes of ${place.path} are neither applied nor discarded`;
  return isUnfinished && places.length > 0
    ? `the undo of its changes of ${places[0]!.path} was interrupted`
    : undefined;
}

function undecidedOf(dir: string): { places: UndecidedPlace[]; isUnfinished: boolean } {
  const path = indexOf(dir);
  if (!existsSync(path)) return { places: [], isUnfinished: false };
  try {
    const index = parseObject(readOwn(path).toString('utf8'))!;
    const places = (index.places as UndecidedPlace[]).filter(({ state }) => isUndecided(state));
    return { places, isUnfinished: index.beside !== undefined };
  } catch {
    return { places: [{ path, mode: 'review', state: 'open' }], isUnfinished: false };
  }
}

export function isUndecided(state: KeptState): boolean {
  return state === 'open' || state === 'pending' || state === 'too_large';
}

/** What can be done with the changes of an ended run. */
export function keptSteps(runId: string, dir: string): NextStep[] {
  const places = undecidedPlaces(dir);
  const has = (mode: KeptMode) => places.some((place) => place.mode === mode && place.state !== 'too_large');
  if (places.length === 0) return [];
  return [
    diffRun(runId),
    ...(has('review') ? [applyRun(runId)] : []),
    ...(has('snapshot') ? [undoRun(runId)] : []),
    ...(places.some(({ mode }) => mode === 'review') ? [discardRun(runId)] : []),
  ];
}
