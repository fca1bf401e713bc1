import { type Dirent, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { shellCommand } from '../../../util/shell-words.ts';
import { isInside } from '../../registry/real-path.ts';

const MAX_SHOWN = 20;
const MAX_LOOKED_AT = 1000;
/** What interpreters leave, not tools. */
const CACHES = new Set(['__pycache__', 'node_modules']);

/** What a tool left in its workspace beside its artifacts. */
export interface Leftovers {
  msg: string;
  /** Relative to the workspace. */
  leftovers: string[];
  hint: string;
}

/** The files that a completed tool left in its workspace although they are no artifacts; hidden ones do not count. */
export function leftoversIn(work: string, artifacts: readonly string[]): Leftovers | undefined {
  const found: string[] = [];
  const folders = [work];
  for (let looked = 0; folders.length > 0; ) {
    const folder = folders.pop()!;
    for (const entry of entriesIn(folder)) {
      const path = join(folder, entry.name);
      if (++looked > MAX_LOOKED_AT) break;
      if (entry.name.startsWith('.') || CACHES.has(entry.name)) continue;
      if (artifacts.some((each) => isInside(path, each))) continue;
      if (entry.isDirectory()) folders.push(path);
      else found.push(relative(work, path));
    }
  }
  if (found.length === 0) return undefined;
  const shown = found.sort().slice(0, MAX_SHOWN);
  const more = found.length > shown.length ? `, and ${found.length - shown.length} more` : '';
  return {
    msg: `the tool left files in its workspace that are not artifacts: ${shown.join(', ')}${more}`,
    leftovers: shown,
    hint: `To keep one: ${shellCommand(['cp', join(work, shown[0]!), '.'])}. A tool keeps a file itself when it writes to ARTIFACTS_DIR, or to a path input with access: write.`,
  };
}

function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // The tool may have made it unreadable.
    return [];
  }
}
