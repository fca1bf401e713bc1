import { lstatSync, readFileSync } from 'node:fs';
import type { NextStep } from '../../../protocol/next-step.ts';
import { errorCode } from '../../../util/error-code.ts';

/** What happens to one file of a project, told before it is done and after. */
export interface PlannedFile {
  /** Absolute. */
  path: string;
  /**
   * create: it is new. merge: a marked block is put in. replace: a new one takes its place, and the old one is put aside. change: the
   * named lines. move: it is put aside, since it would be in the way. keep: somebody else's, left alone. unchanged: it is as it should
   * be. could_not: left alone, and something is for a person to do.
   */
  action: 'create' | 'merge' | 'replace' | 'change' | 'move' | 'keep' | 'unchanged' | 'could_not';
  /** Why it is kept, moved or could not be done. */
  why?: string;
  /** What a person does about it. */
  by_hand?: string;
  /** The operations that do that, if any. */
  next?: readonly NextStep[];
  /** The lines that change. */
  lines?: ChangedLine[];
  /** The whole new text, for what writes one. */
  text?: string;
  mode?: number;
}

export interface ChangedLine {
  line: number;
  before: string;
  after: string;
}

/** The line by which ACOR knows a file again as its own. */
const OWN = /Written by `acor init`|"title": "ACOR /;

/** Plans a file of ACOR's own: one that is there is only replaced with `force`, and only if ACOR wrote it. */
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
      why: 'it was not written by ACOR; move it away first to have one that is',
    };
  if (!options.force)
    return {
      path,
      action: 'keep',
      why: 'it was changed since, or is of another version; --force replaces it',
    };
  return { path, action: 'replace', text, ...mode };
}

/** What stands at a path: its text, null for what is no plain file, undefined for nothing. */
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
