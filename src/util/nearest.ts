// User input may have any length; names are short.
const MAX_LENGTH = 64;

/** The known word that the user probably meant; undefined when none is near. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  return nearestWords(word, known, 1)[0];
}

/** The known words nearest to a misspelt one, best first; empty when none is near. */
export function nearestWords(word: string, known: Iterable<string>, limit = 3): string[] {
  if (word.length > MAX_LENGTH) return [];
  const wanted = word.toLowerCase();
  const near: { candidate: string; distance: number }[] = [];
  for (const candidate of known) {
    if (candidate.length > MAX_LENGTH) continue;
    const lower = candidate.toLowerCase();
    // A prefix of at least three letters counts as one edit: `descr` means `describe`.
    const begins = wanted.length >= 3 && lower.startsWith(wanted);
    const distance = begins && lower !== wanted ? 1 : editDistance(wanted, lower);
    const allowed = Math.max(1, Math.floor(Math.max(wanted.length, lower.length) / 3));
    if (distance <= allowed) near.push({ candidate, distance });
  }
  near.sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1));
  return near.slice(0, limit).map((each) => each.candidate);
}

/** The number of insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let best = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, beforeLast[j - 2]! + 1);
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}
