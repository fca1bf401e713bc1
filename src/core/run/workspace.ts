import { chmodSync, lstatSync, mkdirSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from '../../protocol/manifest.ts';
import { writeEvenOnFullDisk } from '../../util/atomic-write.ts';
import { removeFile, removeIfPossible } from '../../util/files.ts';
import type { RunStore } from '../ports/run-store.ts';
import { folderOf } from '../store-files/layout.ts';
import { storageError } from '../store-files/storage-error.ts';

/** The absolute paths of one run on the machine that executes it (contract §6). They are not part of the record. */
export interface RunWorkspace {
  /** The run's folder, which contains all others. */
  dir: string;
  work: string;
  checkpoints: string;
  /** Outputs before the runner moves them to their targets. */
  staging: string;
  logs: string;
  /** LOG_DIR: a separate folder, so that the tool cannot write the runner's logs beside it. */
  toolLogs: string;
  stdoutLog: string;
  stderrLog: string;
  /** The FIFOs of the tool's streams. Not in `control`, which is watched: each write to a FIFO there would wake the supervisor. */
  streams: string;
  artifacts: string;
  /** The requests to the tool's supervisor. */
  control: string;
  /** The part of `control` that the tool can read; only its supervisor writes here. */
  toolControl: string;
  /** CANCEL_FILE: asks the tool to stop. */
  cancelFile: string;
  /** ANSWERS_DIR. */
  answers: string;
  secrets: string;
  /** The answers that the caller gave in advance, until the run has completed. */
  givenAnswers: string;
  /** The paths that the run's Unix user owns while the run is live, and their original owners. */
  ownershipRecord: string;
  /** The files beside the targets of outputs, while these are put in place. */
  unfinishedOutputs: string;
  /** The system calls of an observed tool, until they are read. No tool sees it. */
  trace: string;
}

/** The workspaces of a project's runs on this machine. */
export class Workspaces {
  /** The folder that contains all of them. */
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /** Throws E_RUN_NOT_FOUND for a text that is not a run id, so that no id becomes a path. */
  of(runId: string): RunWorkspace {
    const dir = folderOf(this.root, runId);
    const work = join(dir, 'work');
    const logs = join(dir, 'logs');
    const control = join(dir, 'control');
    const toolControl = join(control, 'tool');
    return {
      dir,
      work,
      checkpoints: join(work, '.checkpoints'),
      staging: join(work, '.staged'),
      logs,
      toolLogs: join(logs, 'tool'),
      stdoutLog: join(logs, 'stdout.log'),
      stderrLog: join(logs, 'stderr.log'),
      streams: logs,
      artifacts: join(dir, 'artifacts'),
      control,
      toolControl,
      cancelFile: join(toolControl, 'CANCEL'),
      answers: join(toolControl, 'answers'),
      secrets: join(dir, 'secrets'),
      givenAnswers: join(dir, 'given-answers.json'),
      ownershipRecord: join(control, 'ownership.json'),
      unfinishedOutputs: join(control, 'unfinished-outputs.json'),
      trace: join(dir, 'observed', 'trace'),
    };
  }
}

/** Whether a tool may start other tools of the project. */
export function mayCallTools({ permissions }: Pick<Manifest, 'permissions'>): boolean {
  return permissions.commands.includes('acor');
}

/** Where a tool that starts other tools writes its calls and reads the replies, and the programs that it calls. */
export function callFolders({ work, toolControl }: RunWorkspace) {
  return {
    requests: join(work, '.calls'),
    replies: join(toolControl, 'calls'),
    programs: join(toolControl, 'bin'),
    shortcut: join(work, 'tool'),
  };
}

/** The store of a project's runs, and their workspaces on this machine. */
export interface RunHost {
  store: RunStore;
  workspaces: Workspaces;
}

/** Creates the folders of a run for its tool. Existing folders of an earlier attempt stay unchanged. */
export function prepareWorkspace(workspace: RunWorkspace): void {
  const { dir, work, checkpoints, logs, toolLogs, artifacts, control, toolControl, answers, secrets } =
    workspace;
  try {
    // Each after the one that it is in: to make both at once takes three calls.
    for (const path of [work, checkpoints, logs, toolLogs, artifacts, control, toolControl, answers])
      mkdirSync(path, { recursive: true });
    mkdirSync(secrets, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw storageError(error, 'make the folders of the run', dir);
  }
}

/** Opens the folders of a run that an earlier attempt has closed to their owner: the sandbox of the next one could not enter them. */
export function reopenFolders({ work, checkpoints, toolLogs, artifacts }: RunWorkspace): void {
  for (const path of [work, checkpoints, toolLogs, artifacts]) {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isDirectory() && (stats.mode & 0o700) !== 0o700) chmodSync(path, (stats.mode & 0o777) | 0o700);
  }
}

/** Removes what an ended run no longer needs: control files, empty logs and empty folders. Files that the tool wrote stay. */
export function tidyWorkspace(workspace: RunWorkspace): void {
  const { work, checkpoints, staging, logs, toolLogs, artifacts, control, toolControl, answers, secrets } =
    workspace;
  removeIfEmpty(checkpoints);
  // Most are empty: then there is nothing in them to look for.
  if (!removeIfEmpty(work) && removeIfEmpty(staging)) removeIfEmpty(work);
  removeIfEmpty(toolLogs);
  if (!removeIfEmpty(logs)) {
    for (const path of streamsOf(workspace)) removeIfPossible(path);
    for (const path of [workspace.stdoutLog, workspace.stderrLog])
      if (isEmptyFile(path)) removeIfPossible(path);
    removeIfEmpty(logs);
  }
  removeIfEmpty(artifacts);
  removeIfEmpty(answers);
  if (!removeIfEmpty(toolControl)) {
    removeIfPossible(workspace.cancelFile);
    removeIfEmpty(toolControl);
  }
  for (const path of [control, secrets]) removeIfEmpty(path);
}

/** Where the tool's streams are, as far as they are there. */
export function streamsOf({ streams }: RunWorkspace): string[] {
  return ['stdin', 'stdout', 'stderr'].map((name) => join(streams, name));
}

/** A tool may have closed the folder of its logs. */
function isEmptyFile(path: string): boolean {
  try {
    return statSync(path).size === 0;
  } catch {
    return false;
  }
}

/** Whether the folder was empty, and so is removed. */
function removeIfEmpty(path: string): boolean {
  try {
    // rmdir fails when the folder is not empty, or when the tool has replaced it by a file or a link.
    rmdirSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Asks the tool to stop by writing the cancel file (contract §3). On a full disk the write may fail: the signal follows anyway. */
export function putCancelFile({ cancelFile }: RunWorkspace, reason: string): void {
  try {
    writeEvenOnFullDisk(cancelFile, `${reason}\n`);
  } catch {}
}

/** Removes the cancel request of the previous attempt, so that it does not stop the next one. */
export function removeCancelFile({ cancelFile }: RunWorkspace): void {
  removeFile(cancelFile);
}
