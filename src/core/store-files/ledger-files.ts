import { closeSync, fstatSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../util/error-code.ts';
import { parseObject } from '../../util/parse-object.ts';
import { openOwn } from '../../util/regular-file.ts';
import { GENESIS, sha256 } from './ledger-line.ts';
import { PlainFile, type ReadableFile } from './readable-file.ts';

/** `00000007.jsonl` is a sealed segment, `00000001-00000006.jsonl` what is left of several after a compaction. */
const NAME = /^(\d{8})(?:-(\d{8}))?\.jsonl$/;
const CHUNK_BYTES = 262_144;
const TAIL_BYTES = 65_536;
/** Lines have a few hundred bytes. */
const USUAL_TAIL_BYTES = 4_096;
/** Most first lines are shorter: a search by time looks at those of many files. */
const BEGIN_BYTES = 4_096;

/** A sealed file of the ledger, and the numbers of the segments that it holds. */
export interface SealedFile {
  name: string;
  path: string;
  first: number;
  last: number;
  isCompacted: boolean;
}

/** A line of a file, without its end. */
export interface FileLine {
  text: Buffer;
  from: number;
  to: number;
  hasEnd: boolean;
}

/** The sealed files of a ledger, the oldest first. One that a compaction has replaced, and was killed before it removed it, is left out. */
export function sealedFiles(folder: string): SealedFile[] {
  const files = namesIn(folder).flatMap((name) => {
    const match = NAME.exec(name);
    if (match === null) return [];
    const first = Number(match[1]);
    const last = Number(match[2] ?? match[1]);
    return [{ name, path: join(folder, name), first, last, isCompacted: match[2] !== undefined }];
  });
  let covered = 0;
  return files
    .sort((a, b) => a.first - b.first || b.last - a.last || Number(b.isCompacted) - Number(a.isCompacted))
    .filter(({ last }) => {
      const isNew = last > covered;
      covered = Math.max(covered, last);
      return isNew;
    });
}

/** The name of a sealed file: of one segment, or of those from one to another that were compacted. */
export function sealedName(first: number, compactedTo?: number): string {
  const range = compactedTo === undefined ? [first] : [first, compactedTo];
  return `${range.map((number) => String(number).padStart(8, '0')).join('-')}.jsonl`;
}

/** The hash that the first line after this file has as that of the line before it. */
export function hashAtEndOf(file: SealedFile): string {
  if (file.isCompacted) return String(firstLineOf(file)?.last_sha256);
  const fd = openOwn(file.path);
  try {
    const { line } = lastLine(fd);
    return line === undefined ? GENESIS : sha256(line);
  } finally {
    closeSync(fd);
  }
}

/** When the first line of a file was written, in milliseconds since 1970; of a compacted file, the first one that it replaced. */
export function beginOf(file: SealedFile): number {
  const { ts, from_ts = ts } = firstLineOf(file) ?? {};
  return Date.parse(String(from_ts));
}

/** The last whole line of a file, and where it ends: what follows is a torn write. */
export function lastLine(fd: number): { line: string | undefined; end: number } {
  const { size } = fstatSync(fd);
  const found = lastLineIn(fd, size, USUAL_TAIL_BYTES) ?? lastLineIn(fd, size, TAIL_BYTES);
  if (found !== undefined) return found;
  throw new Error(`no whole line is in its last ${TAIL_BYTES} bytes: it was damaged`);
}

/** Undefined when it begins before so many last bytes. */
function lastLineIn(fd: number, size: number, most: number): ReturnType<typeof lastLine> | undefined {
  const from = Math.max(0, size - most);
  const bytes = Buffer.allocUnsafe(size - from);
  const tail = bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, from));
  const end = tail.lastIndexOf(10) + 1;
  const start = end > 1 ? tail.lastIndexOf(10, end - 2) + 1 : 0;
  if (start === 0 && from > 0) return undefined;
  if (end === 0) return { line: undefined, end: 0 };
  return { line: tail.toString('utf8', start, end - 1), end: from + end };
}

/** The lines of a file from an offset on, in bounded memory. */
export function* linesOf(path: string, from = 0): Generator<FileLine> {
  using file = new PlainFile(path);
  yield* linesOfFile(file, from);
}

/** The lines of a file that is open as a descriptor, which stays open. */
export function linesOfOpen(fd: number, from = 0): Generator<FileLine> {
  return linesOfFile(new PlainFile('', fd), from);
}

/** The lines of an open file. A last line that has no end may be in the middle of being written: it is read again while it grows. */
export function* linesOfFile(file: ReadableFile, from = 0): Generator<FileLine> {
  let rest: Buffer = Buffer.alloc(0);
  for (let at = from; ; ) {
    const left = file.size - at - rest.length;
    const chunk = Buffer.allocUnsafe(Math.max(0, Math.min(CHUNK_BYTES, left)));
    const size = file.read(chunk, at + rest.length);
    if (size === 0) {
      if (rest.length > 0) yield { text: rest, from: at, to: at + rest.length, hasEnd: false };
      return;
    }
    const bytes =
      rest.length === 0 ? chunk.subarray(0, size) : Buffer.concat([rest, chunk.subarray(0, size)]);
    let start = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
      yield { text: bytes.subarray(start, end), from: at + start, to: at + end + 1, hasEnd: true };
      start = end + 1;
    }
    rest = bytes.subarray(start);
    at += start;
  }
}

function firstLineOf({ path }: SealedFile): Record<string, unknown> | undefined {
  using file = new PlainFile(path);
  const begin = Buffer.allocUnsafe(BEGIN_BYTES);
  const end = begin.subarray(0, file.read(begin, 0)).indexOf(10);
  if (end !== -1) return parseObject(begin.toString('utf8', 0, end));
  for (const { text } of linesOfFile(file)) return parseObject(text.toString('utf8'));
  return undefined;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
