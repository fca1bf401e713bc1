import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunRecord } from '../../src/protocol/run-record.ts';

/** The whole record of a run; undefined while it is being made. */
export function recordIn(runsDir: string, runId: string): RunRecord | undefined {
  try {
    return JSON.parse(readFileSync(join(runsDir, runId, 'metadata.json'), 'utf8'));
  } catch {
    return undefined;
  }
}
