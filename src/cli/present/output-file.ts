import { closeSync, constants, read } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { safeText } from '../../compose/terminal-text.ts';
import { openRegular } from '../../util/regular-file.ts';
import { writeAsync } from '../../util/write-async.ts';

const CHUNK_BYTES = 262_144;
/** A longer line is written in parts. */
const MAX_HELD_CHARS = 1_048_576;

const readAsync = promisify(read);

/** The part of a file that holds the output of a plain program. */
interface OutputFile {
  path: string;
  offset: number;
  bytes: number;
}

/**
 * Writes the output of a plain program that is too long for its result, safe for a terminal. False when the result
 * does not name such a file, or the file is gone.
 */
export async function writeOutputFile(
  run: { result: Readonly<Record<string, unknown>> | null; dir: string },
  fd: number,
): Promise<boolean> {
  const file = outputFileOf(run.result?.['data'], run.dir);
  const source = file && openIfThere(file.path);
  if (file === undefined || source === undefined) return false;
  try {
    await copySafely(source, file, fd);
    return true;
  } finally {
    closeSync(source);
  }
}

/** A tool can write any data: only the log of its own run is shown. */
function outputFileOf(data: unknown, dir: string): OutputFile | undefined {
  const { output_file: path, offset = 0, bytes } = (data ?? {}) as Record<string, unknown>;
  if (path !== join(dir, 'logs', 'stdout.log')) return undefined;
  return isCount(offset) && isCount(bytes) ? { path, offset, bytes } : undefined;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function openIfThere(path: string): number | undefined {
  try {
    return openRegular(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch {
    return undefined;
  }
}

async function copySafely(source: number, { offset, bytes }: OutputFile, fd: number): Promise<void> {
  const decoder = new TextDecoder();
  const chunk = new Uint8Array(CHUNK_BYTES);
  let held = '';
  for (let at = offset; at < offset + bytes; ) {
    const { bytesRead } = await readAsync(source, chunk, 0, Math.min(CHUNK_BYTES, offset + bytes - at), at);
    if (bytesRead === 0) break;
    at += bytesRead;
    held += decoder.decode(chunk.subarray(0, bytesRead), { stream: true });
    // Whole lines, so that no escape sequence is divided.
    const end = held.length > MAX_HELD_CHARS ? held.length : held.lastIndexOf('\n') + 1;
    if ((await writeAsync(fd, Buffer.from(safeText(held.slice(0, end))))) === 'closed') return;
    held = held.slice(end);
  }
  const last = held + decoder.decode();
  if (last !== '') await writeAsync(fd, Buffer.from(`${safeText(last)}\n`));
}
