import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { HealthCheck } from '../../../compose/health-shape.ts';
import type { RunIndex } from '../../../core/ports/run-index.ts';
import { recoverIfLost } from '../../../core/run/recover-lost-run.ts';
import { isLost } from '../../../core/store-files/lost-runs.ts';
import type { RunStore } from '../../../core/store-files/run-store.ts';
import type { Project } from '../../acor-app.ts';

/** Below this a run of ordinary size may fill the disk. */
const LOW_SPACE_BYTES = 200_000_000;

/** Whether runs can be kept: permissions, space, and runs that lost their supervisor. */
export async function checkStore({ store, index }: Project): Promise<HealthCheck[]> {
  const access = checkAccess(store.root);
  if (access.status === 'blocked') return [access];
  const runs = await index();
  return [access, checkSpace(store.root), await checkLostRuns(store, runs), checkIndex(runs)];
}

/** After the runs were looked through: an index that is damaged shows it then. */
function checkIndex({ warning }: RunIndex): HealthCheck {
  if (warning === undefined) return { name: 'store.index', status: 'ok', detail: 'up to date' };
  return { name: 'store.index', status: 'degraded', detail: warning, fix: 'acor health' };
}

function checkAccess(root: string): HealthCheck {
  const folder = nearestFolder(root);
  if (!statSync(folder).isDirectory()) {
    return {
      name: 'store.permissions',
      status: 'blocked',
      detail: `${folder} is a file, and the runs need a folder there`,
      fix: `mv '${folder}' '${folder}.old'`,
    };
  }
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return { name: 'store.permissions', status: 'ok', detail: root };
  } catch {
    return {
      name: 'store.permissions',
      status: 'blocked',
      detail: `${folder} is not writable for this user`,
      fix: `chmod u+rwx '${folder}'`,
    };
  }
}

function checkSpace(root: string): HealthCheck {
  const { bavail, bsize } = statfsSync(nearestFolder(root));
  const free = bavail * bsize;
  const detail = `${Math.floor(free / 1e6)} MB free`;
  if (free >= LOW_SPACE_BYTES) return { name: 'store.space', status: 'ok', detail };
  return { name: 'store.space', status: 'degraded', detail, fix: 'acor clean --keep 20' };
}

async function checkLostRuns(store: RunStore, index: RunIndex): Promise<HealthCheck> {
  const lost: string[] = [];
  for (const { run_id: runId } of await index.unended()) {
    try {
      const record = store.read(runId);
      if (!isLost(record)) continue;
      await recoverIfLost(store, record);
      lost.push(runId);
    } catch {
      // A folder that holds no readable run is not a lost one.
    }
  }
  if (lost.length === 0) return { name: 'store.lost_runs', status: 'ok', detail: 'none' };
  return {
    name: 'store.lost_runs',
    status: 'degraded',
    detail: `${lost.length} run(s) had lost their supervisor and were ended as E_RUNNER_LOST: ${lost.join(', ')}`,
    fix: `acor show ${lost[0]}`,
  };
}

function nearestFolder(path: string): string {
  let folder = path;
  while (!existsSync(folder)) folder = dirname(folder);
  return folder;
}
