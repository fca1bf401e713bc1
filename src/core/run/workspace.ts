import { mkdirSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { removeIfPossible } from '../../util/remove-if-possible.ts';
import type { RunStore } from '../ports/run-store.ts';
import { folderOf } from '../store-files/layout.ts';
import { storageError } from '../store-files/storage-error.ts';

/** The paths of one run on the machine that executes it (contract §6). They are the executor's and no part of the record. All are absolute. */
export interface RunWorkspace {
  /** The run's folder, which holds all of the others. */
  dir: string;
  work: string;
  checkpoints: string;
  /** Outputs until they are put in place. */
  staging: string;
  logs: string;
  /** LOG_DIR: the tool's own, so that the runner's logs beside it are the runner's alone. */
  toolLogs: string;
  stdoutLog: string;
  stderrLog: string;
  artifacts: string;
  /** The FIFOs of the tool's streams, beside the requests to its supervisor. */
  control: string;
  /** What the tool may see of `control`: only its supervisor writes here. */
  toolControl: string;
  /** CANCEL_FILE: asks the tool to end. */
  cancelFile: string;
  /** ANSWERS_DIR. */
  answers: string;
  secrets: string;
  /** Which paths belong to the run's own user while it lives, and who owned them before. */
  ownershipRecord: string;
}

/** Where this machine executes the runs of a project. */
export class Workspaces {
  /** The folder that holds them all. */
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /** Throws E_RUN_NOT_FOUND for a text that is not a run id, so that no id becomes a path. */
  of(runId: string): RunWorkspace {
    const dir = folderOf(this.root, runId);
    const [work, logs, control] = ['work', 'logs', 'control'].map((name) => join(dir, name)) as [
      string,
      string,
      string,
    ];
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
      artifacts: join(dir, 'artifacts'),
      control,
      toolControl,
      cancelFile: join(toolControl, 'CANCEL'),
      answers: join(toolControl, 'answers'),
      secrets: join(dir, 'secrets'),
      ownershipRecord: join(control, 'ownership.json'),
    };
  }
}

/** Where runs are kept, and where this machine executes them. */
export interface RunHost {
  store: RunStore;
  workspaces: Workspaces;
}

/** Makes the folders that the tool of a run finds. Those of an earlier attempt stay as they are. */
export function prepareWorkspace(workspace: RunWorkspace): void {
  const { dir, work, checkpoints, toolLogs, artifacts, answers, secrets } = workspace;
  try {
    for (const path of [work, checkpoints, toolLogs, artifacts, answers])
      mkdirSync(path, { recursive: true });
    mkdirSync(secrets, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw storageError(error, 'make the folders of the run', dir);
  }
}

/** Removes what an ended run needs no more: files of its supervision, empty logs, and empty folders. What a tool has left stays. */
export function tidyWorkspace(workspace: RunWorkspace): void {
  const { work, checkpoints, staging, logs, toolLogs, artifacts, control, toolControl, answers, secrets } =
    workspace;
  for (const path of [workspace.cancelFile, ...streamsIn(control)]) removeIfPossible(path);
  for (const path of [workspace.stdoutLog, workspace.stderrLog])
    if (isEmptyFile(path)) removeIfPossible(path);
  for (const path of [
    checkpoints,
    staging,
    work,
    toolLogs,
    logs,
    artifacts,
    answers,
    toolControl,
    control,
    secrets,
  ])
    removeIfEmpty(path);
}

function streamsIn(control: string): string[] {
  return ['stdin', 'stdout', 'stderr'].map((name) => join(control, name));
}

function isEmptyFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.size === 0;
}

function removeIfEmpty(path: string): void {
  try {
    // Other errors of rmdir say that it is not empty, or that the tool has put a file or a link in its place.
    rmdirSync(path);
  } catch {}
}
