/** A version x.y.z with optional pre-release and build parts (semver 2.0.0). */
export const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?$/;

/** Negative when `a` is before `b`, positive when after (semver 2.0.0 §11; build parts are ignored). */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  for (let i = 0; i < 3; i++) {
    const difference = left.numbers[i]! - right.numbers[i]!;
    if (difference !== 0) return difference;
  }
  return comparePreRelease(left.preRelease, right.preRelease);
}

/**
 * Whether a version is in a range: `>=1.2.3`, or `^1.2.3` for compatible versions of the same major number (below
 * 1.0.0, the same minor number).
 */
export function withinRange(version: string, range: `>=${string}` | `^${string}`): boolean {
  const base = range.replace(/^(>=|\^)/, '');
  if (compareVersions(version, base) < 0) return false;
  if (!range.startsWith('^')) return true;
  const [left, right] = [partsOf(version).numbers, partsOf(base).numbers];
  return left[0] === right[0] && (left[0] !== 0 || left[1] === right[1]);
}

function comparePreRelease(a: string[], b: string[]): number {
  // A version without a pre-release part is after all of its pre-releases.
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const difference = compareIdentifiers(a[i]!, b[i]!);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function compareIdentifiers(a: string, b: string): number {
  const [aIsNumber, bIsNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (aIsNumber && bIsNumber) return Number(a) - Number(b);
  if (aIsNumber !== bIsNumber) return aIsNumber ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function partsOf(version: string): { numbers: number[]; preRelease: string[] } {
  const match = SEMVER.exec(version);
  if (!match) throw new Error(`Internal: '${version}' is not a version`);
  return {
    numbers: [Number(match[1]), Number(match[2]), Number(match[3])],
    preRelease: match[4]?.split('.') ?? [],
  };
}
