import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownIdentity } from '../../src/util/process-owner.ts';

/** Makes the owner of a run's lease a process that is gone. */
export function loseRun(runsDir: string, runId: string): void {
  const folder = join(runsDir, 'leases');
  for (const name of readdirSync(folder))
    if (name.startsWith(`${runId}@`))
      writeFileSync(join(folder, name), JSON.stringify({ ...ownIdentity(), start_time: 1 }));
}
