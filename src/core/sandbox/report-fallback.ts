import { mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type NextStep, SEE_HEALTH } from '../../protocol/next-steps.ts';
import { writeAtomic } from '../../util/atomic-write.ts';
import { readOwn, refuseLinks } from '../../util/regular-file.ts';
import type { ChosenBackend } from './choose.ts';

/** The warning about a sandbox that is weaker than possible. */
export interface WeakerNews {
  msg: string;
  hint: string;
  next: readonly NextStep[];
}

/**
 * The warning for a run without the strongest sandbox; undefined when an earlier run of this project on this machine
 * has emitted it.
 */
export function reportFallback(
  { backend, skippedBackends }: ChosenBackend,
  cacheFolder: string,
): WeakerNews | undefined {
  const [first] = skippedBackends;
  if (first === undefined) return undefined;
  const why = skippedBackends.map((each) => `${each.backend.name}: ${each.probe.detail}`).join('; ');
  const msg = `tools are isolated by ${backend.name} (tier ${backend.tier}), which is not the strongest sandbox (${why})`;
  const path = join(cacheFolder, 'sandbox-warned.json');
  const warning = JSON.stringify([hostname(), msg]);
  if (readText(path) === warning) return undefined;
  try {
    refuseLinks(dirname(cacheFolder), basename(cacheFolder));
    mkdirSync(cacheFolder, { recursive: true });
    writeAtomic(path, warning, { mode: 0o600 });
  } catch {
    // If the mark cannot be written, the next run warns again.
  }
  const { fix } = first.probe;
  return { msg, hint: fix ?? 'Check what this machine offers.', next: fix === undefined ? [SEE_HEALTH] : [] };
}

function readText(path: string): string | undefined {
  try {
    return readOwn(path).toString();
  } catch {
    return undefined;
  }
}
