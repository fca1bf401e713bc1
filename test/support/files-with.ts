import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../src/util/error-code.ts';

/** Every text with the path of every file below a folder that holds it. The names of files are not looked at. */
export function filesWith(texts: readonly string[], folder: string): { text: string; path: string }[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return unlessGone(() => filesWith(texts, path)) ?? [];
    const bytes = entry.isFile() ? unlessGone(() => readFileSync(path)) : undefined;
    return texts.filter((text) => bytes?.includes(text)).map((text) => ({ text, path }));
  });
}

/** Other processes remove locks and temporary files while a folder is walked; undefined for what they removed. */
function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
