import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { REDACTION_MARKS } from '../../protocol/redaction-mark.ts';
import { OpenFolder } from '../../util/open-folder.ts';
import { nextTurn } from '../../util/pause.ts';
import { walkTree } from '../../util/walk-tree.ts';
import type { PackedArtifacts } from './packed-artifacts.ts';

/** So many entries are found in a few milliseconds. */
const ENTRIES_A_TURN = 500;

/** The files and folders at paths that were recorded redacted. */
export class HiddenPaths {
  readonly #packed: PackedArtifacts;
  readonly #below = new Map<string, Promise<string[]>>();

  constructor(packed: PackedArtifacts) {
    this.#packed = packed;
  }

  /** The paths that a recorded one may have been: each mark stands for any text, also with a `/`. */
  async matching(recorded: string): Promise<string[]> {
    const parts = this.#packed.pathNow(recorded).split(REDACTION_MARKS);
    const folder = dirname(`${parts[0]}x`);
    const below = this.#below.get(folder) ?? this.#pathsBelow(folder);
    this.#below.set(folder, below);
    return (await below).filter((path) => hasInOrder(path, parts));
  }

  async #pathsBelow(folder: string): Promise<string[]> {
    return this.#packed.pathsBelow(folder) ?? (await pathsBelow(folder));
  }
}

async function pathsBelow(path: string): Promise<string[]> {
  const found: string[] = [];
  try {
    using folder = OpenFolder.real(realpathSync(path));
    for (const step of walkTree(folder, { onError: () => {} })) {
      if (step.kind === 'left') continue;
      found.push(path + step.path.slice(folder.path.length));
      if (found.length % ENTRIES_A_TURN === 0) await nextTurn();
    }
  } catch {
    // What cannot be read has no path that could be checked.
  }
  return found;
}

/** Whether a text begins with the first part, ends with the last, and has the others in between, in this order. Linear in the text. */
function hasInOrder(text: string, parts: readonly string[]): boolean {
  const [first, ...others] = parts as [string, ...string[]];
  const last = others.pop()!;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
