import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** Writes a file that a script makes; with --check it writes nothing, and the script exits 1 when the file is stale or missing. */
export function writeGenerated(file: string, text: string): void {
  const path = join(ROOT, file);
  if (!process.argv.includes('--check')) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  } else if (textOf(path) !== text) {
    const script = process.argv[1]!.slice(ROOT.length + 1);
    process.stderr.write(`${file} is stale. Write it again: node_modules/.bin/bun ${script}\n`);
    process.exitCode = 1;
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
