import { mkdirSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { removeIfPossible } from '../../util/remove-if-possible.ts';
import type { RunWorkspace } from '../ports/run-workspace.ts';
import { layoutOf } from '../store-files/layout.ts';
import { storageError } from '../store-files/storage-error.ts';

/** Where this machine executes the runs of a project. */
export class Workspaces {
  /** The folder that holds them all. */
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /** Throws E_RUN_NOT_FOUND for a text that is not a run id, so that no id becomes a path. */
  of(runId: string): RunWorkspace {
    return layoutOf(this.root, runId);
  }
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
