import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isInside } from '../../../util/real-path.ts';
import { textAt } from '../scaffold/planned-file.ts';
import type { Part } from './part.ts';
import { type AgentsRecord, digestOf } from './record.ts';
import type { WantedFile } from './wanted-files.ts';

/**
 * The state of a part. current: as it should be. missing: absent. stale: an older version of ACOR wrote it. changed: a
 * person edited it since. foreign: a file, or a
 * server of the same name, that ACOR did not write. unreadable: ACOR cannot insert it.
 */
export type PartState = 'current' | 'missing' | 'stale' | 'changed' | 'foreign' | 'unreadable';

interface InspectedPart {
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
  return written === undefined && part.isForeign?.(found) === true ? 'foreign' : 'changed';
}

/** When one folder is a link to another, two paths are one file: keep the first. */
export function apartOnDisk(root: string, files: readonly WantedFile[]): WantedFile[] {
  const seen = new Set<string>();
  return files.filter(({ path }) => {
    const real = realPlace(join(root, path));
    return !seen.has(real) && seen.add(real);
  });
}

/**
 * Whether a path is inside the project after its links are resolved. A cloned project could contain a link to the
 * user's own settings.
 */
function leadsOut(root: string, path: string): boolean {
  return !isInside(realPlace(path), realPlace(root));
}

/** Resolves the links in the folders of a path. The file name, and folders that do not exist yet, stay as written. */
function realPlace(path: string): string {
  const folder = dirname(path);
  if (path === folder) return path;
  try {
    return join(realpathSync(folder), basename(path));
  } catch {
    return join(realPlace(folder), basename(path));
  }
}
