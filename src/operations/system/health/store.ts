import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { HealthCheck } from '../../../compose/health-shape.ts';
import type { RunIndex } from '../../../core/ports/run-index.ts';
import { recoverLostRuns } from '../../../core/run/recover-lost-run.ts';
import type { RunHost } from '../../../core/run/workspace.ts';
import type { Project } from '../../acor-app.ts';

/** Below this a run of ordinary size may fill the disk. */
const LOW_SPACE_BYTES = 200_000_000;

/** Whether runs can be kept: permissions, space, and runs that lost their supervisor, which `fix` recovers. */
export async function checkStore(project: Project, fix: boolean): Promise<HealthCheck[]> {
  const { store, index } = project;
  const access = checkAccess(store.root);
  if (access.status === 'blocked') return [access];
  const lostRuns = await checkLostRuns(project, fix);
  const runs = await index();
  await runs.unended();
  return [access, checkSpace(store.root), lostRuns, checkIndex(runs)];
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

async function checkLostRuns(host: RunHost, fix: boolean): Promise<HealthCheck> {
  const name = 'store.lost_runs';
  const recovered = fix ? await recoverLostRuns(host, { withoutLease: true }) : [];
  const lost = (await host.store.leases.list())
    .filter(({ state }) => state === 'lost')
    .map(({ runId }) => runId);
  if (lost.length > 0)
    return {
      name,
      status: 'degraded',
      detail: `${lost.length} run(s) have lost their supervisor: ${lost.join(', ')}`,
      fix: 'acor health --fix',
    };
  if (recovered.length === 0) return { name, status: 'ok', detail: 'none' };
  return {
    name,
    status: 'ok',
    detail: `${recovered.length} run(s) had lost their supervisor and were ended as E_RUNNER_LOST: ${recovered.join(', ')}`,
  };
}

function nearestFolder(path: string): string {
  let folder = path;
  while (!existsSync(folder)) folder = dirname(folder);
  return folder;
}
