import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { HealthCheck } from '../../../compose/health-shape.ts';
import type { RunIndex } from '../../../core/ports/run-index.ts';
import { unrestoredRuns } from '../../../core/run/attempt/unrestored-runs.ts';
import { recoverLostRuns } from '../../../core/run/recover-lost-run.ts';
import type { RunHost } from '../../../core/run/workspace.ts';
import { canGiveUsers } from '../../../core/sandbox/identity/run-users.ts';
import { FileRunQueue } from '../../../core/store-files/file-run-queue.ts';
import { FOLDERS_OF_STORE } from '../../../core/store-files/layout.ts';
import { storageError } from '../../../core/store-files/storage-error.ts';
import {
  CLEAN,
  RECOVER_LOST_RUNS,
  RESTORE_OWNERS,
  SEE_HEALTH,
  VERIFY,
} from '../../../protocol/next-steps.ts';
import { countOf } from '../../../util/count-of.ts';
import { shellCommand } from '../../../util/shell-words.ts';
import type { Project } from '../../acor-app.ts';
import type { WriteCommand } from '../../command-forms.ts';
import { missingWords } from '../../run/missing-words.ts';

const WRITTEN_BY_RUNS = ['leases', 'queue', 'ledger.jsonl'];

/** Below this, an ordinary run may fill the disk. */
const LOW_SPACE_BYTES = 200_000_000;

/** Checks the run store: permissions, space, the index, and lost runs, which `fix` recovers. */
export async function checkStore(
  project: Project,
  fix: boolean,
  commandOf: WriteCommand,
): Promise<HealthCheck[]> {
  const { store, index } = project;
  const access = checkAccess(store.root);
  if (access.status === 'blocked') return [access];
  const lostRuns = await checkLostRuns(project, fix, commandOf);
  const runs = await index();
  await runs.unended();
  const owners = await checkOwners(project, fix, commandOf);
  const missing = await checkMissingRuns(project, runs, commandOf);
  return [
    access,
    ...checkFolders(store.root),
    checkSpace(store.root, commandOf),
    lostRuns,
    ...owners,
    ...checkPacks(project, commandOf),
    ...missing,
    checkIndex(runs, commandOf),
  ];
}

/** Only where root gives each run a user of its own. */
async function checkOwners(host: RunHost, fix: boolean, commandOf: WriteCommand): Promise<HealthCheck[]> {
  if (!canGiveUsers()) return [];
  const name = 'store.owners';
  const { left, foreign } = await unrestoredRuns(host, { fix });
  const [first] = foreign;
  if (first !== undefined) {
    return [
      {
        name,
        status: 'degraded',
        detail: `control/ownership.json of ${countOf(foreign.length, 'run')} was not written by this user's ACOR at this place, and gives no file back: ${foreign.join(', ')}`,
        fix: shellCommand(['rm', host.workspaces.of(first).ownershipRecord]),
      },
    ];
  }
  if (left.length === 0) return [{ name, status: 'ok', detail: 'the files of ended runs have their owners' }];
  return [
    {
      name,
      status: 'degraded',
      detail: `files of ${countOf(left.length, 'ended run')} still belong to the user of the run: ${left.join(', ')}`,
      fix: commandOf(RESTORE_OWNERS),
    },
  ];
}

/** Nothing for a store without packs. */
function checkPacks({ store }: Project, commandOf: WriteCommand): HealthCheck[] {
  const { packed } = store.files;
  if (!packed.exist) return [];
  const name = 'store.packs';
  const packs = [...packed.tables()];
  const [damaged] = packs.filter(({ damage }) => damage !== undefined);
  if (damaged === undefined)
    return [{ name, status: 'ok', detail: `${countOf(packs.length, 'pack')} of old runs` }];
  return [{ name, status: 'degraded', detail: damaged.damage!.message, fix: commandOf(VERIFY) }];
}

/** Nothing for a store of which no other program has removed a run. */
async function checkMissingRuns(
  { store }: Project,
  index: RunIndex,
  commandOf: WriteCommand,
): Promise<HealthCheck[]> {
  const missing = missingWords(store, await index.missing());
  if (missing === undefined) return [];
  const { words: detail, next } = missing;
  const [fix] = next.map(commandOf);
  return [{ name: 'store.missing_runs', status: 'degraded', detail, ...(fix !== undefined && { fix }) }];
}

/** Call after reading the runs: only then is a damaged index detected. */
function checkIndex({ warning }: RunIndex, commandOf: WriteCommand): HealthCheck {
  if (warning === undefined) return { name: 'store.index', status: 'ok', detail: 'up to date' };
  return { name: 'store.index', status: 'degraded', detail: warning, fix: commandOf(SEE_HEALTH) };
}

function checkAccess(root: string): HealthCheck {
  const folder = nearestFolder(root);
  if (!statSync(folder).isDirectory()) {
    return {
      name: 'store.permissions',
      status: 'blocked',
      detail: `${folder} is a file; ACOR needs a folder there for the runs`,
      fix: `mv '${folder}' '${folder}.old'`,
    };
  }
  let path = folder;
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    // Another user of the project may have made them. A run needs each of them.
    for (path of WRITTEN_BY_RUNS.map((name) => join(root, name)))
      if (existsSync(path)) accessSync(path, constants.W_OK);
    return { name: 'store.permissions', status: 'ok', detail: root };
  } catch (error) {
    const { message, hint } = storageError(error, 'write the runs', path);
    return { name: 'store.permissions', status: 'blocked', detail: message, fix: hint };
  }
}

/** Reports each folder of the store that this user cannot use. One `sudo acor run` makes folders that belong to root. */
function checkFolders(root: string): HealthCheck[] {
  return [...FOLDERS_OF_STORE, 'cache']
    .filter((name) => !WRITTEN_BY_RUNS.includes(name))
    .map((name) => join(root, name))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => {
      try {
        accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
        return [];
      } catch (error) {
        const { message, hint } = storageError(error, 'use a folder of the store', folder);
        return [{ name: 'store.folders', status: 'degraded', detail: message, fix: hint }];
      }
    });
}

function checkSpace(root: string, commandOf: WriteCommand): HealthCheck {
  const { bavail, bsize } = statfsSync(nearestFolder(root));
  const free = bavail * bsize;
  const detail = `${Math.floor(free / 1e6)} MB free`;
  if (free >= LOW_SPACE_BYTES) return { name: 'store.space', status: 'ok', detail };
  return { name: 'store.space', status: 'degraded', detail, fix: commandOf(CLEAN) };
}

async function checkLostRuns(host: Project, fix: boolean, commandOf: WriteCommand): Promise<HealthCheck> {
  const name = 'store.lost_runs';
  const recovered = fix ? await recoverLostRuns(host, { withoutLease: true }) : [];
  if (fix) new FileRunQueue(host.store.root).tidyAll();
  const lost = (await host.store.leases.list())
    .filter(({ state }) => state === 'lost')
    .map(({ runId }) => runId);
  if (lost.length > 0)
    return {
      name,
      status: 'degraded',
      detail: `${countOf(lost.length, 'run has lost its supervisor', 'runs have lost their supervisors')}: ${lost.join(', ')}`,
      fix: commandOf(RECOVER_LOST_RUNS),
    };
  if (recovered.length === 0) return { name, status: 'ok', detail: 'none' };
  return {
    name,
    status: 'ok',
    detail: `${countOf(recovered.length, 'run had lost its supervisor and was', 'runs had lost their supervisors and were')} ended as E_RUNNER_LOST: ${recovered.join(', ')}`,
  };
}

function nearestFolder(path: string): string {
  let folder = path;
  while (!existsSync(folder)) folder = dirname(folder);
  return folder;
}
