import type { Manifest } from '../../protocol/manifest.ts';
import { inputsOf } from './input-schema.ts';

/** What a call of a tool may change outside of its workspace. */
export interface ToolEffects {
  /** It changes nothing. */
  readsOnly: boolean;
  /** It may delete or overwrite existing data. */
  mayDestroy: boolean;
  /** A repeated call with the same inputs changes nothing further. */
  idempotent: boolean;
  /** It may access the network. */
  reachesOut: boolean;
}

/**
 * Derives the effects of a tool from its permissions and inputs, and from its declared `effects` when the two agree.
 * Without a sandbox nothing enforces the permissions, so only the declaration counts.
 */
export function effectsOf(manifest: Manifest, { isConfined }: { isConfined: boolean }): ToolEffects {
  const { permissions, effects, idempotent } = manifest;
  const paths = (inputsOf(manifest) ?? []).filter(({ type }) => type === 'path');
  const isFree = !isConfined || permissions.level === 'privileged';
  const asksToWrite =
    permissions.filesystem.write.some(isOutsideWorkspace) || paths.some(({ access }) => access === 'write');
  // A path without `access` that does not exist yet is an output (contract §5).
  const mayCreate = paths.some(({ access }) => access === undefined);
  const reachesOut = isFree || permissions.network.egress_allow.length > 0;
  const mayChange = isFree || asksToWrite || reachesOut;
  const readsOnly = effects === undefined ? !mayChange && !mayCreate : effects === 'reads' && !asksToWrite;
  const mayDestroy = !readsOnly && (effects === undefined ? mayChange : effects !== 'writes');
  return { readsOnly, mayDestroy, idempotent, reachesOut };
}

function isOutsideWorkspace(path: string): boolean {
  return !/^(?:\$\{WORKSPACE\}|\$WORKSPACE|\.)(?:\/|$)/.test(path);
}
