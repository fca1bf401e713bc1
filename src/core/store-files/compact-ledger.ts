import { readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolder, writeAtomic } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
import { newSpanId } from '../../util/ids.ts';
import { parseObject } from '../../util/parse-object.ts';
import { newSha256 } from '../../util/sha256.ts';
import type { Ledger } from './ledger.ts';
import {
  type FileLine,
  linesOf,
  linesOfOpen,
  type SealedFile,
  sealedFiles,
  sealedName,
} from './ledger-files.ts';
import { ledgerLine, sha256, summariesNamedBy } from './ledger-line.ts';
import { storageError } from './storage-error.ts';

/** So many file names fit into a line that `acor verify` and the next append still read at once. */
const FILES_IN_LINE = 100;

type Entry = Readonly<Record<string, unknown>>;

/** Sealed files that become one file. */
interface Group {
  files: SealedFile[];
  keptBytes: number;
  droppedBytes: number;
}

/** A compacted file that is written, but not in its place yet. */
interface Prepared {
  file: string;
  temporary: string;
  summary_sha256: string;
}

/**
 * Shortens the sealed part of a ledger once half of it is about runs that were cleaned. Their lines are replaced by a summary with the
 * hashes that continue the chain. The ledger names each summary in a line of its own before any file is replaced, so that the chain
 * covers the summaries, and a crash at any point leaves a ledger that verifies.
 */
export async function compactLedger(ledger: Ledger, options: CompactionOptions): Promise<void> {
  try {
    await compact(ledger, options);
  } catch (error) {
    // Another process has compacted the ledger and removed a file before it was read here.
    if (errorCode(error) === 'ENOENT') return;
    throw storageError(error, 'compact the ledger', ledger.folder);
  }
}

interface CompactionOptions {
  isThere: (runId: string) => boolean;
  isSound: () => boolean;
}

async function compact(ledger: Ledger, { isThere, isSound }: CompactionOptions): Promise<void> {
  const gone = cleanedRuns(ledger, isThere);
  const sealed = ledger.read((files) => files);
  const groups = groupsOf(sealed, gone, ledger.segmentBytes);
  const sum = (key: 'keptBytes' | 'droppedBytes') => groups.reduce((total, group) => total + group[key], 0);
  if (sum('droppedBytes') === 0 || sum('droppedBytes') < sum('keptBytes')) return;
  // A changed ledger stays as it is, so that the change can be found.
  if (!isSound()) return;
  const changed = groups.filter(({ files, droppedBytes }) => files.length > 1 || droppedBytes > 0);
  const left = new Set(groups.flatMap((group) => (changed.includes(group) ? [] : [group.files[0]!.name])));
  const prepared: Prepared[] = [];
  try {
    for (const group of changed)
      prepared.push(prepare(ledger.folder, group, (entry) => isKept(entry, gone, left)));
    await ledger.exclusively((append) => {
      const now = sealedFiles(ledger.folder).map(({ name }) => name);
      const isCompactedMeanwhile = sealed.some(({ name }, index) => now[index] !== name);
      if (isCompactedMeanwhile) return;
      const entries = prepared.map(({ file, summary_sha256 }) => ({ file, summary_sha256 }));
      for (let at = 0; at < entries.length; at += FILES_IN_LINE)
        append([{ type: 'compacted', files: entries.slice(at, at + FILES_IN_LINE) }]);
      for (const { file, temporary } of prepared) renameSync(temporary, join(ledger.folder, file));
      syncFolder(ledger.folder);
      removeAllBut(sealedFiles(ledger.folder), ledger.folder);
    });
  } finally {
    for (const { temporary } of prepared) rmSync(temporary, { force: true });
  }
}

/** The runs that were cleaned and are not in the store any more. */
function cleanedRuns(ledger: Ledger, isThere: (runId: string) => boolean): Set<string> {
  const gone = new Set<string>();
  const add = (lines: Iterable<FileLine>) => {
    for (const { text } of lines) {
      if (!text.includes('"type":"cleaned"')) continue;
      const entry = parseObject(text.toString('utf8'));
      if (entry?.type === 'cleaned') gone.add(String(entry.run_id));
    }
  };
  ledger.read((sealed, open) => {
    for (const { path } of sealed) add(linesOf(path));
    if (open !== undefined) add(linesOfOpen(open));
  });
  for (const runId of gone) if (isThere(runId)) gone.delete(runId);
  return gone;
}

/** Neighbours whose kept lines fit into one segment are put together. */
function groupsOf(sealed: readonly SealedFile[], gone: ReadonlySet<string>, segmentBytes: number): Group[] {
  const groups: Group[] = [];
  for (const file of sealed) {
    let [keptBytes, droppedBytes] = [0, 0];
    for (const { text, from, to } of linesOf(file.path)) {
      const entry = parseObject(text.toString('utf8'));
      if (entry?.type !== 'run' && entry?.type !== 'cleaned') continue;
      if (isKept(entry, gone, new Set())) keptBytes += to - from;
      else droppedBytes += to - from;
    }
    const last = groups.at(-1);
    if (last === undefined || last.keptBytes + keptBytes > segmentBytes)
      groups.push({ files: [file], keptBytes, droppedBytes });
    else {
      last.files.push(file);
      last.keptBytes += keptBytes;
      last.droppedBytes += droppedBytes;
    }
  }
  return groups;
}

/** `left` are the compacted files that stay as they are: the lines that name them are still needed. */
function isKept(entry: Entry | undefined, gone: ReadonlySet<string>, left: ReadonlySet<string>): boolean {
  switch (entry?.type) {
    case 'run':
    case 'cleaned':
    case 'applied':
    case 'discarded':
    case 'undone':
      return !gone.has(String(entry.run_id));
    case 'compacted':
      return summariesNamedBy(entry).some(({ file }) => left.has(file));
    case 'segment':
    case 'summary':
      return false;
    case 'packed':
      // One line for hundreds of runs.
      return true;
    default:
      // Not a line that this version writes: it is for `acor verify` to report.
      return true;
  }
}

/** Writes what is kept of a group, after a summary of it, to a temporary file. */
function prepare(folder: string, { files }: Group, keeps: (entry: Entry | undefined) => boolean): Prepared {
  const [first, last] = [files[0]!, files.at(-1)!];
  const replaced = newSha256();
  const kept: string[] = [];
  const begin: { prev?: unknown; ts?: unknown } = {};
  let [runs, lines, lastLine] = [0, 0, { sha256: '', ts: '' as unknown }];
  for (const { path, isCompacted } of files) {
    for (const { text } of linesOf(path)) {
      const line = text.toString('utf8');
      const entry = parseObject(line) ?? {};
      replaced.update(text).update('\n');
      begin.prev ??= entry.prev;
      begin.ts ??= entry.from_ts ?? entry.ts;
      if (entry.type === 'summary') {
        runs += Number(entry.runs);
        lines += Number(entry.lines);
        lastLine = { sha256: String(entry.last_sha256), ts: entry.to_ts };
        continue;
      }
      // Of a compacted file, the summary has the hash of the last line that it replaced.
      if (!isCompacted) lastLine = { sha256: sha256(text), ts: entry.ts };
      if (keeps(entry)) kept.push(`${line}\n`);
      else lines++;
      if (entry.type === 'run' && !keeps(entry)) runs++;
    }
  }
  const summary = ledgerLine(
    {
      type: 'summary',
      segments: [first.first, last.last],
      runs,
      lines,
      replaced_sha256: replaced.digest('hex'),
      kept: kept.length,
      kept_sha256: sha256(kept.join('')),
      from_ts: begin.ts,
      to_ts: lastLine.ts,
      last_sha256: lastLine.sha256,
    },
    String(begin.prev),
  );
  const file = sealedName(first.first, last.last);
  const temporary = join(folder, `${file}.${newSpanId()}.new`);
  writeAtomic(temporary, `${summary}\n${kept.join('')}`, { durable: true });
  return { file, temporary, summary_sha256: sha256(summary) };
}

function removeAllBut(files: readonly SealedFile[], folder: string): void {
  const names = new Set(files.map(({ name }) => name));
  for (const name of readdirSync(folder)) if (!names.has(name)) rmSync(join(folder, name), { force: true });
}
