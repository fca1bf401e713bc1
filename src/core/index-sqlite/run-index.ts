import {
  type CostCount,
  DURATION_BOUNDS_S,
  type FoundRuns,
  type IdRange,
  type IndexedQuestion,
  type IndexedRun,
  type RunCount,
  type RunIndex,
  type RunQuery,
  type RunQuestions,
  type RunSource,
  type SourceRun,
} from '../ports/run-index.ts';
import { type IndexChanges, isUnended, missingOf, readChanges } from '../store-memory/index-changes.ts';
import type { Sqlite, SqlRow } from './sqlite.ts';
import {
  costsOf,
  putMissing,
  putRun,
  removeAllRuns,
  removeRun,
  runOf,
  searchOf,
  TABLES,
  TABLES_VERSION,
} from './tables.ts';

const ALL = -1;

/** Why a database cannot be used any more: damaged, no room for it, or its file was removed and may have been made again by another process. */
export type Loss = 'damaged' | 'full' | 'removed';

type Replace = (loss: Loss) => Promise<Sqlite>;

/** An index in SQLite. Processes that bring it up to date at once read the same changes; the first one writes them. */
export class SqliteRunIndex implements RunIndex {
  warning: string | undefined;
  readonly #source: RunSource;
  /** Gives a database in place of one that was lost. */
  readonly #replace: Replace;
  #sqlite: Sqlite;
  #work: Promise<unknown> = Promise.resolve();
  #calls = 0;
  /** So many of the calls were made before the last update began. */
  #upToDateCalls = 0;

  constructor(sqlite: Sqlite, source: RunSource, replace: Replace, warning?: string) {
    this.#sqlite = sqlite;
    this.#source = source;
    this.#replace = replace;
    this.warning = warning;
  }

  query(query: RunQuery): Promise<FoundRuns> {
    return this.#upToDate(async () => {
      for (;;) {
        const { rows, total } = this.#find(query);
        const runIds = rows.map(({ run_id }) => String(run_id));
        const existing = await this.#source.existing(runIds);
        const gone = runIds.filter((runId) => !existing.has(runId));
        if (gone.length === 0) return { runs: rows.map(runOf), total };
        // Another program removed their files, or ACOR did since the update.
        const missing = await missingOf(this.#source, gone);
        this.#inTransaction(() => {
          for (const runId of gone) removeRun(this.#sqlite, runId);
          for (const runId of missing) putMissing(this.#sqlite, runId);
        });
      }
    });
  }

  unended(): Promise<IndexedRun[]> {
    return this.#upToDate(async () => this.#unendedRows().map(runOf));
  }

  questions({ isOpen }: { isOpen: boolean }): Promise<RunQuestions[]> {
    return this.#upToDate(async () => {
      const unended = this.#unendedRows().map(async (row) => ({
        run: runOf(row),
        questions: await this.#source.questions(String(row.run_id)),
      }));
      const found = (await Promise.all(unended)).filter(({ questions }) =>
        isOpen ? questions.some((each) => each.isOpen) : questions.length > 0,
      );
      if (isOpen) return found;
      await this.#readQuestions();
      const ended = this.#sqlite.all("SELECT * FROM details WHERE questions <> '[]'");
      const all = [...found, ...ended.map((row) => ({ run: runOf(row), questions: questionsOf(row) }))];
      return all.sort((a, b) => (a.run.run_id < b.run.run_id ? -1 : 1));
    });
  }

  counts(): Promise<RunCount[]> {
    const within = DURATION_BOUNDS_S.map((bound) => `total(duration_s <= ${bound})`).join();
    return this.#upToDate(async () =>
      this.#sqlite
        .all(`SELECT end_day AS day, tool, state, count(*) AS runs, total(duration_s) AS duration_s,
            json_array(${within}) AS within, sum(cpu_s) AS cpu_s, sum(cost_usd) AS cost_usd
          FROM runs WHERE end_day IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`)
        .map((row) => ({ ...row, within: JSON.parse(String(row.within)) }) as unknown as RunCount),
    );
  }

  costs(of: { day?: string; parent?: string } = {}): Promise<CostCount[]> {
    const { sql, values } = costsOf(of);
    return this.#upToDate(async () => this.#sqlite.all(sql, ...values) as unknown as CostCount[]);
  }

  missing(): Promise<string[]> {
    return this.#upToDate(async () => this.#missing());
  }

  close(): void {
    this.#sqlite.close();
  }

  #find(query: RunQuery): { rows: SqlRow[]; total: number } {
    const { from, values } = searchOf(query);
    const [limit, offset] = [query.limit ?? ALL, query.offset ?? 0];
    const order = query.order === 'oldest' ? 'ASC' : 'DESC';
    const page = `SELECT run_id FROM ${from} ORDER BY run_id ${order} LIMIT ? OFFSET ?`;
    const rows = this.#sqlite.all(
      `SELECT * FROM details WHERE run_id IN (${page}) ORDER BY run_id ${order}`,
      ...values,
      limit,
      offset,
    );
    // A page that is not full is the last one.
    const isLast = limit === ALL || rows.length < limit;
    if (isLast && (offset === 0 || rows.length > 0)) return { rows, total: offset + rows.length };
    const [counted] = this.#sqlite.all(`SELECT count(*) AS count FROM ${from}`, ...values);
    return { rows, total: Number(counted!.count) };
  }

  /** One at a time in this process; a database that turns out to be lost is made or opened again, once. Calls that are made at once share an update. */
  #upToDate<T>(work: () => Promise<T>): Promise<T> {
    const call = ++this.#calls;
    const result = this.#work.then(async () => {
      try {
        if (call > this.#upToDateCalls) {
          const calls = this.#calls;
          await this.#update();
          this.#upToDateCalls = calls;
        }
        return await work();
      } catch (error) {
        const loss = lossOf(error);
        if (loss === undefined) throw error;
        // Anyone may remove the file.
        if (loss !== 'removed') this.warning = warningOf(loss, error as Error);
        this.#sqlite.close();
        this.#sqlite = await this.#replace(loss);
        await this.#update();
        return work();
      }
    });
    this.#work = result.catch(() => {});
    return result;
  }

  async #update(): Promise<void> {
    this.#prepareTables();
    for (;;) {
      const position = this.#position();
      const unended = new Map(this.#unendedRows().map((row) => [String(row.run_id), row]));
      const all = await readChanges(this.#source, {
        position,
        unended: [...unended.keys()],
        missing: this.#missing(),
        idsIn: (range) => this.#idsIn(range),
      });
      // A query while runs are live writes nothing unless one of them has changed.
      const isNew = (run: SourceRun) => all.isWhole || !isSame(run, unended.get(run.run.run_id));
      const changes = { ...all, changed: all.changed.filter(isNew) };
      if (changes.position === position && changes.changed.length === 0 && changes.removed.length === 0)
        return;
      if (this.#write(changes, position)) return;
    }
  }

  /** False when another process has written since the position was read. */
  #write(
    { isWhole, changed, removed, missing, position }: IndexChanges,
    before: string | undefined,
  ): boolean {
    return this.#inTransaction(() => {
      if (this.#position() !== before) return false;
      if (isWhole) removeAllRuns(this.#sqlite);
      for (const run of changed) putRun(this.#sqlite, run);
      for (const runId of removed) removeRun(this.#sqlite, runId);
      for (const runId of missing) putMissing(this.#sqlite, runId);
      this.#sqlite.exec('DELETE FROM position');
      this.#sqlite.run('INSERT INTO position VALUES (?)', position);
      return true;
    });
  }

  /** Reads the questions of ended runs that were never asked for. */
  async #readQuestions(): Promise<void> {
    const unread = this.#sqlite.all(
      'SELECT run_id FROM details JOIN runs USING (run_id) WHERE questions IS NULL AND is_unended = 0',
    );
    const read: [string, string][] = [];
    for (const { run_id } of unread)
      read.push([String(run_id), JSON.stringify(await this.#source.questions(String(run_id)))]);
    if (read.length === 0) return;
    this.#inTransaction(() => {
      for (const [runId, questions] of read)
        this.#sqlite.run(
          'UPDATE details SET questions = ? WHERE run_id IN (SELECT run_id FROM runs WHERE run_id = ? AND is_unended = 0)',
          questions,
          runId,
        );
    });
  }

  #prepareTables(): void {
    const version = () => this.#sqlite.all('PRAGMA user_version')[0]!.user_version;
    if (version() === TABLES_VERSION) return;
    this.#inTransaction(() => {
      if (version() === TABLES_VERSION) return;
      const tables = this.#sqlite.all("SELECT name FROM sqlite_master WHERE type = 'table'");
      for (const { name } of tables) this.#sqlite.exec(`DROP TABLE "${name}"`);
      this.#sqlite.exec(TABLES);
    });
  }

  #inTransaction<T>(work: () => T): T {
    this.#sqlite.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.#sqlite.exec('COMMIT');
      return result;
    } catch (error) {
      try {
        this.#sqlite.exec('ROLLBACK');
      } catch {
        // After some errors, such as a full disk, SQLite has rolled back by itself.
      }
      throw error;
    }
  }

  #position(): string | undefined {
    const [row] = this.#sqlite.all('SELECT value FROM position');
    return row === undefined ? undefined : String(row.value);
  }

  #missing(): string[] {
    return this.#sqlite.all('SELECT run_id FROM missing ORDER BY run_id').map(({ run_id }) => String(run_id));
  }

  #idsIn({ first, last }: IdRange): string[] {
    const rows = this.#sqlite.all('SELECT run_id FROM runs WHERE run_id >= ? AND run_id <= ?', first, last);
    return rows.map(({ run_id }) => String(run_id));
  }

  #unendedRows(): SqlRow[] {
    return this.#sqlite.all(
      'SELECT * FROM details WHERE run_id IN (SELECT run_id FROM runs WHERE is_unended = 1) ORDER BY run_id',
    );
  }
}

/** Whether a run that has not ended is in the index as it is: what is searched of it, its arguments and message, changes with these fields alone. */
function isSame(source: SourceRun, row: SqlRow | undefined): boolean {
  return row !== undefined && isUnended(source) && JSON.stringify(source.run) === row.run;
}

function questionsOf(row: SqlRow): IndexedQuestion[] {
  return JSON.parse(String(row.questions));
}

export function warningOf(loss: 'damaged' | 'full', { message }: Error): string {
  return loss === 'full'
    ? `the index of the runs is kept in memory only: ${message}`
    : `the index of the runs was damaged and has been made again: ${message}`;
}

/** Undefined for an error that does not concern the file. */
export function lossOf(error: unknown): Loss | undefined {
  if (isSqliteError(error, /^SQLITE_(CORRUPT|NOTADB)/, [11, 26])) return 'damaged';
  // The disk is full, or has failed: then the index is kept in memory.
  if (isSqliteError(error, /^SQLITE_(FULL|IOERR)/, [13, 10])) return 'full';
  // A file that was removed, or whose file system, can be read and not written.
  return isSqliteError(error, /^SQLITE_READONLY/, [8]) ? 'removed' : undefined;
}

/** Bun gives the code as a name, Node as a number in `errcode`. */
function isSqliteError(error: unknown, names: RegExp, codes: readonly number[]): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return names.test(String(code)) || codes.includes(Number(errcode) & 0xff);
}
