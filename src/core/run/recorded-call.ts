import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { execName, execProgram } from '../../protocol/names.ts';
import { runName } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { isInside } from '../../util/real-path.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { RunRequest } from './run-request.ts';
import type { Workspaces } from './workspace.ts';

interface Host {
  config: LoadedConfig;
  workspaces: Workspaces;
}

/** The call of a recorded run with these arguments, to make it again. Its paths in the project are where the project is now: it may have been moved, or copied with its store. */
export function recordedCall(
  host: Host,
  record: Pick<RunRecord, 'kind' | 'tool' | 'cwd' | 'project_root'>,
  args: string[],
): Pick<RunRequest, 'kind' | 'tool' | 'args' | 'cwd'> {
  const { kind, tool } = record;
  const placeNow = placesNow(host, record.project_root);
  const cwd = placeNow(record.cwd);
  if (kind === 'workflow') {
    const [file = '', ...inputs] = args;
    return { kind, tool: runName('workflow', placeNow(file)), args: inputs, cwd };
  }
  const program = execProgram(tool);
  return { kind, tool: program === undefined ? placeNow(tool) : execName(placeNow(program)), args, cwd };
}

/** Leaves paths as they are where other projects may have runs in the store, unless the project of the run is gone. */
function placesNow(
  { config: { root }, workspaces }: Host,
  before: string | undefined,
): (path: string) => string {
  const isMoved =
    before !== undefined && before !== root && (isInside(workspaces.root, root) || !existsSync(before));
  return (path) => (isMoved && isInside(path, before) ? join(root, relative(before, path)) : path);
}
