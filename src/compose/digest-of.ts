import { newSha256 } from '../util/sha256.ts';

/** A digest of a value that does not depend on the order of keys. */
export function digestOf(value: unknown): string {
  const text = JSON.stringify(value, (_key, each) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
  return newSha256()
    .update(text ?? '')
    .digest('hex');
}
