import type { Manifest } from '../../protocol/manifest.ts';
import { inputsOf } from './input-schema.ts';

/** What calling a tool may do to the world outside of its workspace. */
export interface ToolEffects {
  /** It changes nothing. */
  readsOnly: boolean;
  /** What was there may be lost. */
  mayDestroy: boolean;
  /** Called again with the same inputs, it changes nothing more. */
  idempotent: boolean;
  /** It may reach beyond this machine. */
  reachesOut: boolean;
}

/**
 * Tells the effects of a tool by what it is held to, its permissions and inputs, and by its own word (`effects`) where the two
 * do not contradict each other. Without a sandbox nothing holds a tool, so that only its own word counts.
 */
export function effectsOf(manifest: Manifest, { isConfined }: { isConfined: boolean }): ToolEffects {
  const { permissions, effects, idempotent } = manifest;
  const paths = (inputsOf(manifest) ?? []).filter(({ type }) => type === 'path');
  const isFree = !isConfined || permissions.level === 'privileged';
  const asksToWrite =
    permissions.filesystem.write.some(isOutsideWorkspace) || paths.some(({ access }) => access === 'write');
  // A path of neither kind that does not exist yet is written (contract §5).
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
