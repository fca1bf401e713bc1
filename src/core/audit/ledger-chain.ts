import { createHash } from 'node:crypto';
import { parseObject } from '../../util/parse-object.ts';
import { type FileLine, linesOf, type SealedFile } from '../store-files/ledger-files.ts';
import { GENESIS, holdsItsHash, sha256, summariesNamedBy } from '../store-files/ledger-line.ts';
import type { PlaceProblem } from './verify-problem.ts';

/** An end of a run as the ledger has it: how many events there were, and the hash of their bytes. */
export interface EnteredRun {
  run_id: string;
  path: string;
  line: number;
  events: number;
  sha256: string;
}

export type LedgerProblem = PlaceProblem & { run_id: string; path: string };

type Entry = Readonly<Record<string, unknown>>;

/**
 * Takes the files of a ledger in their order and checks the chain: a line has its own hash, which shows a changed byte, and that of the
 * line before it, which shows every other change. Of a run, it keeps where its ends were entered.
 */
export class LedgerChain {
  readonly runs = new Map<string, EnteredRun[]>();
  /** The runs that were removed after their last end. */
  readonly cleaned = new Set<string>();
  readonly problems: LedgerProblem[] = [];
  /** Where the last file ends. */
  end = { path: '', line: 0, at: 0 };
  /** The name of a compacted file with the hash of its summary, as a later line of the chain has them. */
  readonly #entered = new Set<string>();
  readonly #summaries: { file: SealedFile; to: number; sha256: string }[] = [];
  #prev = GENESIS;
  #isPrevKnown = true;

  /** What the next line has as the hash of the line before it, where that line is in a file that is not read. */
  continueFrom(prev: string): void {
    this.#prev = prev;
    this.#isPrevKnown = true;
  }

  /** A segment: every line follows upon the one before it. */
  readSegment(path: string, lines: Iterable<FileLine>): void {
    let line = 0;
    this.end = { path, line, at: 0 };
    for (const { text, from, to, hasEnd } of lines) {
      line++;
      const { entry, isWhole, report } = this.#check(path, line, { text, from, to, hasEnd });
      if (isWhole && this.#isPrevKnown && entry!.prev !== this.#prev) {
        const before = line === 1 ? 'before' : String(line - 1);
        report(`line ${before} was changed, removed, added or moved: its hash is not the one kept here`);
      }
      this.continueFrom(sha256(text));
      this.#isPrevKnown = isWhole;
      this.end = { path, line, at: to };
    }
  }

  /** What a compaction left of several segments: a summary, and the lines of the runs that are still there, as they were. */
  readCompacted(file: SealedFile): void {
    const kept = createHash('sha256');
    let summary: Entry = {};
    let [line, keptFrom, at, isEveryWhole] = [0, 0, 0, true];
    for (const { text, from, to, hasEnd } of linesOf(file.path)) {
      line++;
      at = to;
      const { entry, isWhole, report } = this.#check(file.path, line, { text, from, to, hasEnd });
      isEveryWhole &&= isWhole;
      if (line > 1) {
        kept.update(text).update(hasEnd ? '\n' : '');
        continue;
      }
      keptFrom = to;
      summary = entry ?? {};
      this.#summaries.push({ file, to, sha256: sha256(text) });
      if (isWhole && this.#isPrevKnown && summary.prev !== this.#prev)
        report(
          'the segments before this file were changed: the hash of their last line is not the one kept here',
        );
    }
    if (isEveryWhole && summary.kept_sha256 !== kept.digest('hex')) {
      const problem = 'lines were removed, added or moved in this compacted file';
      this.problems.push({ run_id: '', path: file.path, problem, line: 2, from: keptFrom, to: at });
    }
    this.continueFrom(String(summary.last_sha256));
    this.#isPrevKnown = isEveryWhole;
  }

  /** All files were read: every summary must be one that the chain names. */
  checkSummaries(): void {
    for (const { file, to, sha256: found } of this.#summaries) {
      if (this.#entered.has(`${file.name} ${found}`)) continue;
      const problem = 'the summary of this compacted file is not the one that the ledger names';
      this.problems.push({ run_id: '', path: file.path, problem, line: 1, from: 0, to });
    }
  }

  #check(path: string, line: number, { text, from, to, hasEnd }: FileLine) {
    const entry = parseObject(text.toString('utf8'));
    const report = (problem: string) =>
      this.problems.push({ run_id: String(entry?.run_id ?? ''), path, problem, line, from, to });
    const isWhole = hasEnd && entry !== undefined && holdsItsHash(text);
    if (!hasEnd) report('the last line has no end: a write was cut short, or something was added');
    else if (entry === undefined) report('the line is not a JSON object');
    else if (!isWhole) report('the line was changed: it does not have the hash that it names');
    if (hasEnd && entry !== undefined) this.#keep(entry, path, line);
    return { entry, isWhole, report };
  }

  #keep(entry: Entry, path: string, line: number): void {
    const runId = String(entry.run_id);
    switch (entry.type) {
      case 'run': {
        const run = {
          run_id: runId,
          path,
          line,
          events: Number(entry.events),
          sha256: String(entry.events_sha256),
        };
        this.runs.set(runId, [...(this.runs.get(runId) ?? []), run]);
        this.cleaned.delete(runId);
        break;
      }
      case 'cleaned':
        this.cleaned.add(runId);
        break;
      case 'compacted':
        for (const { file, summary_sha256 } of summariesNamedBy(entry))
          this.#entered.add(`${file} ${summary_sha256}`);
        break;
      default:
    }
  }
}
