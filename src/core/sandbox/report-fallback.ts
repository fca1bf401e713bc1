import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { NextStep } from '../../protocol/next-step.ts';
import { SEE_HEALTH } from '../../protocol/next-steps.ts';
import { writeAtomic } from '../../util/atomic-write.ts';
import type { ChosenBackend } from './choose.ts';

/** What is told of a sandbox that is weaker than it could be. */
export interface WeakerNews {
  msg: string;
  hint: string;
  next: readonly NextStep[];
}

/** What a run tells when its sandbox is not the strongest; undefined when a run of this project on this machine has told it before. */
export function reportFallback(
  { backend, skippedBackends }: ChosenBackend,
  cacheFolder: string,
): WeakerNews | undefined {
  const [first] = skippedBackends;
  if (first === undefined) return undefined;
  const why = skippedBackends.map((each) => `${each.backend.name}: ${each.probe.detail}`).join('; ');
  const msg = `tools are isolated by ${backend.name} (tier ${backend.tier}), which is not the strongest sandbox (${why})`;
  const path = join(cacheFolder, 'sandbox-told.json');
  const telling = JSON.stringify([hostname(), msg]);
  if (readText(path) === telling) return undefined;
  try {
    writeAtomic(path, telling, { mode: 0o600 });
  } catch {
    // Then it is told again.
  }
  const { fix } = first.probe;
  return { msg, hint: fix ?? 'See what this machine offers.', next: fix === undefined ? [SEE_HEALTH] : [] };
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
