import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { writeAtomic } from '../../util/atomic-write.ts';
import { newSha256 } from '../../util/sha256.ts';
import { ACOR_VERSION } from '../../util/version.ts';
import { userFolder } from './find.ts';
import type { Setting } from './settings-cache.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Enough for the variables of several shells. */
const MOST_DIGESTS = 16;

/**
 * Checks settings that come with a call, unless the same ones passed before: the schema takes 7 ms to load. The digests of those that passed are in
 * the user's own cache folder; the values are not, as one may be a secret.
 */
export async function checkOnce(
  settings: readonly Setting[],
  env: Env,
  check: () => Promise<void>,
): Promise<void> {
  if (settings.length === 0) return;
  const path = join(userFolder('XDG_CACHE_HOME', '.cache', env), 'config', 'checked.json');
  const digest = newSha256()
    .update(JSON.stringify([ACOR_VERSION, settings]))
    .digest('hex');
  const passed = isAbsolute(path) ? digestsIn(path) : [];
  if (passed.includes(digest)) return;
  await check();
  if (isAbsolute(path)) keep(path, [...passed.slice(1 - MOST_DIGESTS), digest]);
}

function digestsIn(path: string): string[] {
  try {
    const digests: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return Array.isArray(digests) ? digests.filter((each) => typeof each === 'string') : [];
  } catch {
    return [];
  }
}

/** A cache that cannot be written is not an error: the next start checks again. */
function keep(path: string, digests: readonly string[]): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeAtomic(path, JSON.stringify(digests), { mode: 0o600 });
  } catch {}
}
