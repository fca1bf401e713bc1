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
  const path = indexOf(dir);
  if (!existsSync(path)) return [];
  try {
    const places = parseObject(readOwn(path).toString('utf8'))?.places as UndecidedPlace[];
    return places.filter(({ state }) => isUndecided(state));
  } catch {
    return [{ path, mode: 'review', state: 'open' }];
  }
}

/** Why a run must not be removed or packed by a rule: its layer has changes that exist nowhere else. Undefined for other runs. */
export function whyKept(dir: string): string | undefined {
  const place = undecidedPlaces(dir).find(({ mode }) => mode === 'review');
  return place && `its changes of ${place.path} are neither applied nor discarded`;
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
