import { lstatSync, readFileSync } from 'node:fs';
import type { NextStep } from '../../../protocol/next-steps.ts';
import { errorCode } from '../../../util/error-code.ts';

/** The planned or completed change of one project file. */
export interface PlannedFile {
  /** Absolute. */
  path: string;
  /**
   * create: new file. merge: insert a marked block. replace: write a new file and keep the old one as a backup. change:
   * change the named lines. move: rename it to a backup, because it is in the way. remove: ACOR's own file, and the folders that it
   * leaves empty. keep: the user's file, unchanged.
   * unchanged: already correct. could_not: unchanged, and a person must act.
   */
  action: 'create' | 'merge' | 'replace' | 'change' | 'move' | 'remove' | 'keep' | 'unchanged' | 'could_not';
  /** Why it is kept, moved or could not be changed. */
  why?: string;
  /** The manual fix. */
  by_hand?: string;
  /** The operations that fix it. */
  next?: readonly NextStep[];
  /** The lines that change. */
  lines?: ChangedLine[];
  /** The whole new text, for actions that write. */
  text?: string;
  mode?: number;
}

export interface ChangedLine {
  line: number;
  before: string;
  after: string;
}

/** The line that identifies a file that ACOR wrote. */
const OWN = /Written by `acor init`|"title": "ACOR /;

/** Plans a file that ACOR owns. An existing file is replaced only with `force`, and only if ACOR wrote it. */
export function planFile(
  path: string,
  text: string,
  options: { mode?: number; force?: boolean } = {},
): PlannedFile {
  const mode = options.mode === undefined ? {} : { mode: options.mode };
  const found = textAt(path);
  if (found === undefined) return { path, action: 'create', text, ...mode };
  if (found === text) return { path, action: 'unchanged' };
  if (found === null || !OWN.test(found))
    return {
      path,
      action: 'keep',
      why: 'ACOR did not write it; move it away first if ACOR may replace it',
    };
  if (!options.force)
    return {
      path,
      action: 'keep',
      why: 'it was edited, or has a different version; --force replaces it',
    };
  return { path, action: 'replace', text, ...mode };
}

/** The content of a path: its text, null for something that is not a plain file, undefined for nothing. */
export function textAt(path: string): string | null | undefined {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    return stat.isFile() ? readFileSync(path, 'utf8') : null;
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}
