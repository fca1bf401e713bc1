import { closeSync, constants, fstatSync, read, readSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isTerminal } from '../../compose/is-terminal.ts';
import { safeText, withoutEscapes } from '../../compose/terminal-text.ts';
import { openRegular } from '../../util/regular-file.ts';
import { writeAsync } from '../../util/write-async.ts';
import { plainOutput } from './result.ts';

const CHUNK_BYTES = 262_144;
/** A longer line is written in parts. */
const MAX_HELD_CHARS = 1_048_576;

const readAsync = promisify(read);

/** The part of a file that holds the output of a plain program. */
interface OutputFile {
  offset: number;
  bytes: number;
  isBinary: boolean;
}

/**
 * Writes the output of a plain program that the log of its run holds: text safe for a terminal, other bytes as they are, and not to a
 * terminal. A pipe gets the characters that the program wrote, without escape sequences: it may end at a terminal. False when nothing was written: the result has no such output, or has
 * short text for a terminal, or the log is gone.
 */
export async function writeOutputFile(
  run: { result: Readonly<Record<string, unknown>> | null; dir: string },
  fd: number,
): Promise<boolean> {
  const data = run.result?.['data'];
  const text = plainOutput(data);
  const atTerminal = await isTerminal(fd);
  if (text !== undefined && atTerminal) return false;
  const log = join(run.dir, 'logs', 'stdout.log');
  const file = outputFileOf(data, log);
  const source = text === undefined && file === undefined ? undefined : openIfThere(log);
  if (source === undefined) return false;
  try {
    if (text !== undefined) await writeAsync(fd, Buffer.from(withoutEscapes(text) + lineEndOf(source)));
    else if (!file!.isBinary) await copySafely(source, file!, fd, atTerminal);
    else if (atTerminal) return false;
    else
      for await (const chunk of chunksOf(source, file!))
        if ((await writeAsync(fd, chunk)) === 'closed') break;
    return true;
  } finally {
    closeSync(source);
  }
}

/** A tool can write any data: only the log of its own run is shown. */
function outputFileOf(data: unknown, log: string): OutputFile | undefined {
  const { output_file: path, offset = 0, bytes, binary } = (data ?? {}) as Record<string, unknown>;
  if (path !== log) return undefined;
  return isCount(offset) && isCount(bytes) ? { offset, bytes, isBinary: binary === true } : undefined;
}

/** The line end that the text of the result lacks. */
function lineEndOf(log: number): string {
  const { size } = fstatSync(log);
  const last = Buffer.alloc(2);
  const read = readSync(log, last, 0, 2, Math.max(0, size - 2));
  return /\r?\n$/.exec(last.toString('latin1', 0, read))?.[0] ?? '';
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

async function* chunksOf(source: number, { offset, bytes }: OutputFile): AsyncGenerator<Uint8Array, void> {
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (let at = offset; at < offset + bytes; ) {
    const { bytesRead } = await readAsync(source, chunk, 0, Math.min(CHUNK_BYTES, offset + bytes - at), at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}

async function copySafely(source: number, file: OutputFile, fd: number, atTerminal: boolean): Promise<void> {
  const decoder = new TextDecoder();
  const safe = atTerminal ? safeText : withoutEscapes;
  let held = '';
  for await (const chunk of chunksOf(source, file)) {
    held += decoder.decode(chunk, { stream: true });
    // Whole lines, so that no escape sequence is divided.
    const end = held.length > MAX_HELD_CHARS ? held.length : held.lastIndexOf('\n') + 1;
    if ((await writeAsync(fd, Buffer.from(safe(held.slice(0, end))))) === 'closed') return;
    held = held.slice(end);
  }
  const last = held + decoder.decode();
  if (last !== '') await writeAsync(fd, Buffer.from(safe(last) + (atTerminal ? '\n' : '')));
}
