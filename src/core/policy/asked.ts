import type { Manifest } from '../../protocol/manifest.ts';
import type { Places } from './reach.ts';

/** All that a run asks for, as far as it is known by then. */
export interface Asked {
  tool: string;
  manifest: Manifest;
  /** Of the manifest's bytes; null when the tool has none. */
  manifestSha256: string | null;
  /** The deadline that the caller asks for. */
  timeoutS: number | undefined;
  /** Path arguments, the files that are still to be written among them. Absolute and real. */
  grants: readonly { path: string; access: 'read' | 'write'; input: string }[];
  /** How strong the sandbox is, 1 being the strongest; null while it is not known. */
  tier: number | null;
  places: Places;
}
