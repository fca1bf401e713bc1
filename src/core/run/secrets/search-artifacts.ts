import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { Redaction } from '../../secrets/redaction.ts';
import type { MeasuredArtifact } from '../../store-files/artifacts.ts';

/** The total size up to which the artifacts of a run are searched: more would delay the end of the run. */
const MAX_SEARCHED_BYTES = 512 * 1024 * 1024;
const CHUNK_BYTES = 1 << 18;

/** An artifact, and the names of the secrets in its name or content. */
export interface LeakyArtifact {
  path: string;
  secrets: string[];
}

/** The bytes that may still be searched, and whether everything was searched so far. */
interface Budget {
  bytes: number;
  isWhole: boolean;
}

/** Searches the artifacts of a run for secrets; `isWhole` is false when some of them could not be searched. */
export function searchArtifacts(
  redaction: Redaction,
  artifacts: readonly MeasuredArtifact[],
): { found: LeakyArtifact[]; isWhole: boolean } {
  const budget: Budget = { bytes: MAX_SEARCHED_BYTES, isWhole: true };
  const found = artifacts.flatMap(({ path, kind }) => {
    const inName = redaction.spansIn(Buffer.from(path)).map(({ name }) => name);
    const files = kind === 'file' ? [path] : filesIn(path);
    const inFiles = files.flatMap((file) => secretsIn(redaction, file, budget));
    const secrets = [...new Set([...inName, ...inFiles])].sort();
    return secrets.length === 0 ? [] : [{ path, secrets }];
  });
  return { found, isWhole: budget.isWhole };
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function secretsIn(redaction: Redaction, path: string, budget: Budget): string[] {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (!fstatSync(fd).isFile()) throw new Error('no longer a regular file');
    return readThrough(redaction, fd, budget);
  } catch {
    budget.isWhole = false;
    return [];
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function readThrough(redaction: Redaction, fd: number, budget: Budget): string[] {
  const search = redaction.search();
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (;;) {
    const count = readSync(fd, chunk, 0, chunk.length, null);
    const found = search(chunk.subarray(0, count));
    budget.bytes -= count;
    if (budget.bytes < 0) budget.isWhole = false;
    if (count === 0 || budget.bytes < 0) return [...found];
  }
}
