import { realpathSync } from 'node:fs';
import { AcorError } from '../../protocol/acor-error.ts';
import { approve, type NextStep } from '../../protocol/next-steps.ts';
import type { LoadedConfig } from '../config/load.ts';
import { type PolicyLayer, placeIn } from '../policy/policy-layer.ts';
import { commandOf } from '../registry/command.ts';
import { readManifest } from '../registry/read-manifest.ts';
import type { ToolEntry } from '../registry/tool-entry.ts';
import { WatchedFiles } from '../registry/watched-files.ts';
import { ApprovalStore } from './approvals.ts';
import { type ExecutedFiles, executedFiles } from './executed-files.ts';
import type { DigestedFile } from './tool-digest.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The approval of a privileged tool's run, as in `runner_start`. */
export interface Approval {
  digest: string;
  /** The person, or the line of the policy file. */
  by: string;
  /** Null for an approval in a policy file. */
  at: string | null;
}

/** The state of a tool's approval. */
export type ApprovalState =
  | { state: 'not_needed' }
  | { state: 'valid'; approval: Approval; files: DigestedFile[] }
  | { state: 'missing'; digest: string; files: DigestedFile[] }
  /** The approval is for different bytes: `changed` names the files. */
  | {
      state: 'stale';
      digest: string;
      files: DigestedFile[];
      changed: string[];
      given: { by: string; at: string };
    };

/**
 * Finds the approval of a tool: from a person, or in the policy file of the system or the user. No other file may
 * approve.
 */
export async function approvalOf(
  tool: ToolEntry,
  from: { root: string; env: Env; layers: readonly PolicyLayer[]; config: LoadedConfig },
): Promise<ApprovalState> {
  if (tool.manifest.permissions.level !== 'privileged') return { state: 'not_needed' };
  const digested = await executedBy(tool, from);
  if (!(await isAsOnDisk(tool))) throw notAsOnDisk(tool);
  return approvalState(tool.name, digested, from);
}

/** Whether any approval names the tool, for the present bytes or others: a list of tools cannot digest them all. */
export function isNamedByApproval(
  name: string,
  from: { root: string; env: Env; layers: readonly PolicyLayer[] },
): boolean {
  const isNamed = from.layers.some(({ policy }) => policy.approved?.some(({ tool }) => tool === name));
  return isNamed || new ApprovalStore(from.env).read(realpathSync(from.root), name) !== undefined;
}

/** What would be executed for a tool. Throws E_RUNTIME_MISSING or E_SPAWN_FAILED when it cannot start. */
export async function executedBy(
  tool: ToolEntry,
  { config, env }: { config: LoadedConfig; env: Env },
): Promise<ExecutedFiles> {
  const { runtime } = await commandOf(tool, config, env);
  return executedFiles(tool, { config, runtime, path: env['PATH'] ?? '' });
}

/** The same for anything that is approved by a name and a set of files. */
export function approvalState(
  name: string,
  { digest, files }: { digest: string; files: DigestedFile[] },
  from: { root: string; env: Env; layers: readonly PolicyLayer[] },
): Exclude<ApprovalState, { state: 'not_needed' }> {
  for (const layer of from.layers) {
    const index =
      layer.policy.approved?.findIndex((each) => each.tool === name && each.digest === digest) ?? -1;
    if (index === -1) continue;
    return {
      state: 'valid',
      approval: { digest, by: placeIn(layer, `approved[${index}]`), at: null },
      files,
    };
  }
  const stored = new ApprovalStore(from.env).read(realpathSync(from.root), name);
  if (stored === undefined) return { state: 'missing', digest, files };
  const { by, at } = stored;
  if (stored.digest === digest) return { state: 'valid', approval: { digest, by, at }, files };
  return { state: 'stale', digest, files, changed: changedFiles(stored.files, files), given: { by, at } };
}

/** Why something is not approved, in words. */
export function whyNotApproved(state: Extract<ApprovalState, { digest: string }>): string {
  return state.state === 'stale'
    ? `its approval by ${state.given.by} of ${state.given.at} no longer holds, because ${state.changed.join(' and ')} changed`
    : 'it is not approved';
}

/** E_APPROVAL_REQUIRED with the missing approval and the command that a person must run. */
export function approvalRequired(
  tool: string,
  state: Extract<ApprovalState, { digest: string }>,
  next: readonly NextStep[] = [approve(tool)],
): AcorError {
  const why = whyNotApproved(state);
  return new AcorError('E_APPROVAL_REQUIRED', `tool '${tool}' is privileged, and ${why}`, {
    hint: 'A person must approve it at a terminal. Or lower permissions.level to standard and list what the tool needs.',
    details: { ...state, tool },
    next,
  });
}

/** Discovery may have cached an older manifest, so the manifest in use must match the file. */
async function isAsOnDisk({ manifestPath, manifest, name, command }: ToolEntry): Promise<boolean> {
  if (manifestPath === null) return false;
  const fresh = (await readManifest(manifestPath, name, '/', new WatchedFiles())).manifest;
  return (
    JSON.stringify(fresh) === JSON.stringify(manifest) &&
    JSON.stringify(command) === JSON.stringify(manifest.command ?? null)
  );
}

function notAsOnDisk({ name, manifestPath }: ToolEntry): AcorError {
  return new AcorError(
    'E_MANIFEST_INVALID',
    `the manifest of '${name}' in use differs from ${manifestPath}`,
    {
      hint: 'The discovery cache is damaged. Remove the folder cache/ in the runs folder, and try again.',
    },
  );
}

function changedFiles(before: readonly DigestedFile[], now: readonly DigestedFile[]): string[] {
  const changed = now.filter(
    ({ name, sha256 }) => !before.some((each) => each.name === name && each.sha256 === sha256),
  );
  const gone = before.filter(({ name }) => !now.some((each) => each.name === name));
  return [...new Set([...changed, ...gone].map(({ name }) => name))];
}
