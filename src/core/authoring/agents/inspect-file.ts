import { join } from 'node:path';
import { textAt } from '../scaffold/planned-file.ts';
import type { Part } from './part.ts';
import { leadsOut } from './places.ts';
import { type AgentsRecord, digestOf } from './record.ts';
import type { WantedFile } from './wanted-files.ts';

/**
 * The state of a part. current: as it should be. missing: absent. stale: an older version of ACOR wrote it. changed: a
 * person edited it since. foreign: a whole file that ACOR did not write. unreadable: ACOR cannot insert it.
 */
export type PartState = 'current' | 'missing' | 'stale' | 'changed' | 'foreign' | 'unreadable';

export interface InspectedPart {
  part: Part;
  /** Its name in the record. */
  name: string;
  state: PartState;
}

/** The present state of an agent file. */
export interface InspectedFile {
  /** Absolute. */
  path: string;
  wanted: WantedFile;
  /** Undefined for a missing file, null for something that is not a plain file of the project. */
  text: string | null | undefined;
  parts: InspectedPart[];
  /** The most severe state of its parts. */
  state: PartState;
}

const WORST_FIRST: readonly PartState[] = ['unreadable', 'foreign', 'changed', 'missing', 'stale', 'current'];

/** Inspects a file without writing anything. */
export function inspectFile(root: string, wanted: WantedFile, record: AgentsRecord): InspectedFile {
  const path = join(root, wanted.path);
  const text = leadsOut(root, path) ? null : textAt(path);
  const parts = wanted.parts.map((part) => {
    const name = `${wanted.path}#${part.key}`;
    return { part, name, state: stateOf(part, text, record.parts[name]) };
  });
  const state = WORST_FIRST.find((each) => parts.some((part) => part.state === each)) ?? 'current';
  return { path, wanted, text, parts, state };
}

function stateOf(part: Part, text: string | null | undefined, written: string | undefined): PartState {
  if (text === undefined) return 'missing';
  const found = text === null ? undefined : part.found(text);
  if (found === undefined) return 'unreadable';
  if (found === null) return 'missing';
  if (found === part.wanted) return 'current';
  if (written === digestOf(found)) return 'stale';
  return written === undefined && part.key === 'file' ? 'foreign' : 'changed';
}
