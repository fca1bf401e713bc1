import { parseObject } from '../../util/parse-object.ts';
import { newSha256 } from '../../util/sha256.ts';
import { type FileLine, linesOf, type SealedFile } from '../store-files/ledger-files.ts';
import { GENESIS, holdsItsHash, sha256, summariesNamedBy } from '../store-files/ledger-line.ts';
import { EnteredRuns } from './entered-runs.ts';
import type { PlaceProblem } from './verify-problem.ts';

export type LedgerProblem = PlaceProblem & { run_id: string; path: string };

type Entry = Readonly<Record<string, unknown>>;

/**
 * Reads the files of a ledger in order and checks the hash chain. Each line has its own hash, which reveals a changed byte, and the hash
 * of the previous line, which reveals every other change. Collects the ends of each run.
 */
export class LedgerChain {
  readonly runs = new EnteredRuns();
  /** The runs that were removed after their last end. */
  readonly cleaned = new Set<string>();
  /** The packs that were written: the name and the SHA-256 of the table, with a space in between. */
  readonly packs = new Set<string>();
  /** The undone changes of runs: the run and the SHA-256 of the paths, with a space in between. */
  readonly undone = new Set<string>();
  readonly problems: LedgerProblem[] = [];
  /** The end of the last file. */
  end = { path: '', line: 0, at: 0 };
  /** The names of compacted files with the hashes of their summaries, as later lines of the chain record them. */
  readonly #entered = new Set<string>();
  readonly #summaries: { file: SealedFile; to: number; sha256: string }[] = [];
  #prev = GENESIS;
  #isPrevKnown = true;

  /** The expected hash of the previous line, when that line is in a file that is not read. */
  continueFrom(prev: string): void {
    this.#prev = prev;
    this.#isPrevKnown = true;
  }

  /** Checks a segment, in which every line continues the chain. */
  readSegment(path: string, lines: Iterable<FileLine>): void {
    let line = 0;
    this.end = { path, line, at: 0 };
    for (const { text, from, to, hasEnd } of lines) {
      line++;
      const { entry, isWhole, report } = this.#check(path, line, { text, from, to, hasEnd });
      if (isWhole && this.#isPrevKnown && entry!.prev !== this.#prev) {
        const before = line === 1 ? 'before' : String(line - 1);
        report(
          `line ${before} was changed, removed, added or moved: its hash differs from the one in the next line`,
        );
      }
      this.continueFrom(sha256(text));
      this.#isPrevKnown = isWhole;
      this.end = { path, line, at: to };
    }
  }

  /** Checks a compacted file: a summary of several segments, and the unchanged lines of the runs that still exist. */
  readCompacted(file: SealedFile): void {
    const kept = newSha256();
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
          'the segments before this file were changed: the hash of their last line differs from the one in this file',
        );
    }
    if (isEveryWhole && summary.kept_sha256 !== kept.digest('hex')) {
      const problem = 'lines were removed, added or moved in this compacted file';
      this.problems.push({ run_id: '', path: file.path, problem, line: 2, from: keptFrom, to: at });
    }
    this.continueFrom(String(summary.last_sha256));
    this.#isPrevKnown = isEveryWhole;
  }

  /** Call it after the last file: the chain must contain every summary. */
  checkSummaries(): void {
    for (const { file, to, sha256: found } of this.#summaries) {
      if (this.#entered.has(`${file.name} ${found}`)) continue;
      const problem = 'the summary of this compacted file is not the one in the ledger';
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
        const [events, sha256] = [Number(entry.events), String(entry.events_sha256)];
        this.runs.add(runId, { path, line, events, sha256 });
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
      case 'undone':
        this.undone.add(`${runId} ${entry.paths_sha256}`);
        break;
      case 'packed':
        this.packs.add(`${entry.pack} ${entry.table_sha256}`);
        break;
      default:
    }
  }
}
