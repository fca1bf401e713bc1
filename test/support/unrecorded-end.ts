import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownIdentity } from '../../src/util/process-owner.ts';

/** Puts an ended run back to the moment after the end of its log and before that of its record; this process is its supervisor. */
export function unrecordEnd(runsDir: string, runId: string): void {
  const path = join(runsDir, runId, 'metadata.json');
  const record = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify({ ...record, state: 'running', code: null, ended_at: null }));
  writeFileSync(join(runsDir, 'leases', `${runId}@${record.epoch}`), JSON.stringify(ownIdentity()));
}
