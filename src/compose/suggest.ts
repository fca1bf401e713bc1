import { editDistance } from '../util/nearest.ts';

// What a stranger typed may be of any length; no name is.
const MAX_LENGTH = 64;

/** The candidate that was probably meant, or undefined when none is near. */
export function nearest(typed: string, candidates: Iterable<string>): string | undefined {
  if (typed.length > MAX_LENGTH) return undefined;
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(typed.length / 3)) + 1;
  for (const candidate of candidates) {
    if (candidate.length > MAX_LENGTH) continue;
    const distance = distanceTo(typed.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

// A beginning of at least three letters counts as one slip: `descr` is meant as `describe`.
function distanceTo(typed: string, candidate: string): number {
  if (typed.length >= 3 && candidate.startsWith(typed)) return 1;
  return editDistance(typed, candidate);
}
