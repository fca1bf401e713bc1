import { join } from 'node:path';
import { writeAtomic } from '../util/atomic-write.ts';
import { withFileLock } from '../util/file-lock.ts';
import { readRegular } from '../util/regular-file.ts';
import { AppError } from './app-error.ts';
import { notKept } from './state-folder.ts';

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const RATE = /^([1-9]\d{0,5})\/(s|m|h|d)(?:ec|econd|in|inute|our|ay)?$/;

/** A rate such as `60/min`, `5/s` or `1000/day`; undefined for another text. */
export function readRate(rate: string): { calls: number; windowMs: number } | undefined {
  const found = RATE.exec(rate);
  if (found === null) return undefined;
  return { calls: Number(found[1]), windowMs: UNITS[found[2] as keyof typeof UNITS] };
}

/**
 * Counts a call of an operation, over all processes of the user. Throws E_RATE_LIMIT when the calls of the window are used
 * up.
 */
export async function limitRate(folder: string, operation: string, rate: string): Promise<void> {
  const limit = readRate(rate);
  if (limit === undefined) return;
  const { calls, windowMs } = limit;
  const file = join(folder, `${operation}.json`);
  await withFileLock(`${file}.lock`, () => {
    const now = Date.now();
    // A time in the future is from before the clock was set back.
    const recent = timesIn(file).filter((at) => at <= now && at > now - windowMs);
    if (recent.length >= calls) {
      const waitMs = recent[recent.length - calls]! + windowMs - now;
      throw new AppError('E_RATE_LIMIT', `${operation} may be called ${rate}, and that is used up`, {
        hint: `Call it again in ${Math.ceil(waitMs / 1000)} s.`,
        details: { rate_limit: rate, retry_after_ms: waitMs },
      });
    }
    writeAtomic(file, JSON.stringify([...recent, now]), { mode: 0o600 });
  }).catch((error: unknown) => {
    throw notKept(file, error);
  });
}

function timesIn(file: string): number[] {
  try {
    const times: unknown = JSON.parse(readRegular(file).toString());
    return Array.isArray(times) ? times.filter((each) => typeof each === 'number') : [];
  } catch {
    return [];
  }
}
