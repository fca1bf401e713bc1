import type { IndexedRun, RunQuery, SourceRun } from '../ports/run-index.ts';
import { isUnended } from '../store-memory/index-changes.ts';
import type { Sqlite, SqlRow, SqlValue } from './sqlite.ts';

/** A file of another version is made again. */
export const TABLES_VERSION = 1;

/** `position` has one row at most: how far the ledger was read. `questions` is null until they were asked for. */
export const TABLES = `
CREATE TABLE position (value TEXT NOT NULL);
CREATE TABLE runs (
  run_id TEXT PRIMARY KEY, tool TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL, is_unended INTEGER NOT NULL, code TEXT, message TEXT,
  attempt INTEGER NOT NULL, caller TEXT, parent TEXT, task TEXT, created_at TEXT NOT NULL, created_ms INTEGER NOT NULL, ended_at TEXT,
  duration_s REAL, text TEXT NOT NULL, questions TEXT
) WITHOUT ROWID;
CREATE INDEX runs_by_state ON runs (state);
CREATE INDEX runs_by_tool ON runs (tool);
CREATE INDEX runs_by_kind ON runs (kind);
CREATE INDEX runs_by_caller ON runs (caller) WHERE caller IS NOT NULL;
CREATE INDEX runs_by_parent ON runs (parent) WHERE parent IS NOT NULL;
CREATE INDEX runs_by_time ON runs (created_ms);
CREATE INDEX runs_unended ON runs (is_unended) WHERE is_unended = 1;
CREATE INDEX runs_unasked ON runs (run_id) WHERE questions IS NULL;
CREATE INDEX runs_asking ON runs (run_id) WHERE questions <> '[]';
PRAGMA user_version = ${TABLES_VERSION};
`;

const PUT = 'INSERT OR REPLACE INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,NULL)';

export function putRun(sqlite: Sqlite, source: SourceRun): void {
  const { run, text } = source;
  sqlite.run(
    PUT,
    run.run_id,
    run.tool,
    run.kind,
    run.state,
    isUnended(source) ? 1 : 0,
    run.code,
    run.message,
    run.attempt,
    run.caller,
    run.parent?.run_id ?? null,
    run.parent?.task_id ?? null,
    run.created_at,
    Date.parse(run.created_at),
    run.ended_at,
    run.duration_s,
    text.toLowerCase(),
  );
}

export function runOf(row: SqlRow): IndexedRun {
  const { run_id, tool, kind, state, code, message, attempt, caller, parent, task } = row;
  const { created_at, ended_at, duration_s } = row;
  return {
    ...({
      run_id,
      tool,
      kind,
      state,
      code,
      message,
      attempt,
      caller,
      created_at,
      ended_at,
      duration_s,
    } as Omit<IndexedRun, 'parent'>),
    parent: parent == null ? null : { run_id: String(parent), task_id: String(task) },
  };
}

/** The condition of a query, and the values in it. */
export function whereOf(query: RunQuery): { where: string; values: SqlValue[] } {
  const conditions: [string, SqlValue | undefined][] = [
    ['state = ?', query.state],
    ['tool = ?', query.tool],
    ['kind = ?', query.kind],
    ['caller = ?', query.caller],
    ['parent = ?', query.parent],
    ['run_id >= ?', query.prefix],
    ['run_id < ?', query.prefix === undefined ? undefined : `${query.prefix}\uffff`],
    ['run_id < ?', query.before],
    ['created_ms >= ?', query.sinceMs],
    ['created_ms < ?', query.untilMs],
    ['instr(text, ?) > 0', query.text?.toLowerCase()],
  ];
  const given = conditions.filter((each): each is [string, SqlValue] => each[1] !== undefined);
  const where = given.map(([condition]) => condition).join(' AND ');
  return { where: where === '' ? '' : `WHERE ${where}`, values: given.map(([, value]) => value) };
}
