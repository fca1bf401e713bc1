import { callersMeant } from '../../protocol/run.ts';
import type { IndexedRun, RunQuery, SourceRun } from '../ports/run-index.ts';
import { isUnended } from '../store-memory/index-changes.ts';
import type { Sqlite, SqlRow, SqlValue } from './sqlite.ts';

/** A file of another version is made again. */
export const TABLES_VERSION = 7;

/**
 * `runs` holds what queries filter by, so that a filter which no index serves reads little. `texts` holds the same and the text in which
 * queries look: without rowids and without a join, SQLite reads it in the order of the answer, and stops at a full page. What is shown of
 * a run is in `details`, and what it cost in `costs`, which most runs are not in. `missing` names the runs whose files another program removed. `position` has one row at most: how far the ledger was read. `questions` is null until they were asked for.
 */
export const TABLES = `
CREATE TABLE position (value TEXT NOT NULL);
CREATE TABLE runs (
  run_id TEXT PRIMARY KEY, tool TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL, is_unended INTEGER NOT NULL, caller TEXT, parent TEXT,
  created_ms INTEGER NOT NULL, end_day TEXT, duration_s REAL, cpu_s REAL, cost_usd REAL
) WITHOUT ROWID;
CREATE TABLE costs (
  run_id TEXT PRIMARY KEY, tool TEXT NOT NULL, task TEXT, caller TEXT, parent TEXT, end_day TEXT NOT NULL, cost_usd REAL,
  is_unpriced INTEGER NOT NULL, input_tokens REAL NOT NULL, cache_read_tokens REAL NOT NULL, output_tokens REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX costs_by_day ON costs (end_day);
CREATE INDEX costs_by_parent ON costs (parent) WHERE parent IS NOT NULL;
CREATE INDEX runs_by_state ON runs (state);
CREATE INDEX runs_by_tool ON runs (tool);
CREATE INDEX runs_by_tool_and_state ON runs (tool, state);
CREATE INDEX runs_by_kind ON runs (kind);
CREATE INDEX runs_by_caller ON runs (caller) WHERE caller IS NOT NULL;
CREATE INDEX runs_by_parent ON runs (parent) WHERE parent IS NOT NULL;
CREATE INDEX runs_unended ON runs (is_unended) WHERE is_unended = 1;
CREATE TABLE details (run_id TEXT PRIMARY KEY, run TEXT NOT NULL, questions TEXT) WITHOUT ROWID;
CREATE INDEX details_unasked ON details (run_id) WHERE questions IS NULL;
CREATE INDEX details_asking ON details (run_id) WHERE questions <> '[]';
CREATE TABLE texts (
  run_id TEXT PRIMARY KEY, tool TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL, caller TEXT, parent TEXT, created_ms INTEGER NOT NULL,
  text TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE missing (run_id TEXT PRIMARY KEY) WITHOUT ROWID;
PRAGMA user_version = ${TABLES_VERSION};
`;

const OF_RUNS = ['runs', 'details', 'texts', 'costs', 'missing'];

export function putRun(sqlite: Sqlite, source: SourceRun): void {
  const { run, text, mayHaveAsked } = source;
  sqlite.run('DELETE FROM missing WHERE run_id = ?', run.run_id);
  const unended = isUnended(source);
  const createdMs = Date.parse(run.created_at);
  const parent = run.parent?.run_id ?? null;
  sqlite.run(
    'INSERT OR REPLACE INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?,?)',
    run.run_id,
    run.tool,
    run.kind,
    run.state,
    unended ? 1 : 0,
    run.caller,
    parent,
    createdMs,
    run.ended_at?.slice(0, 10) ?? null,
    run.duration_s,
    source.cpu_s,
    source.cost_usd,
  );
  const questions = unended || mayHaveAsked ? null : '[]';
  sqlite.run('INSERT OR REPLACE INTO details VALUES (?,?,?)', run.run_id, JSON.stringify(run), questions);
  sqlite.run(
    'INSERT OR REPLACE INTO texts VALUES (?,?,?,?,?,?,?,?)',
    run.run_id,
    run.tool,
    run.kind,
    run.state,
    run.caller,
    parent,
    createdMs,
    searchable(text),
  );
  putCost(sqlite, source);
}

/** The new row of a run that ended and cost something; a run that was resumed has none until it ends again. */
function putCost(sqlite: Sqlite, { run, cost, cost_usd }: SourceRun): void {
  if (cost === null || run.ended_at === null) {
    sqlite.run('DELETE FROM costs WHERE run_id = ?', run.run_id);
    return;
  }
  sqlite.run(
    'INSERT OR REPLACE INTO costs VALUES (?,?,?,?,?,?,?,?,?,?,?)',
    run.run_id,
    run.tool,
    cost.task,
    run.caller,
    run.parent?.run_id ?? null,
    run.ended_at.slice(0, 10),
    cost_usd,
    cost.isUnpriced ? 1 : 0,
    cost.input_tokens,
    cost.cache_read_tokens,
    cost.output_tokens,
  );
}

export function putMissing(sqlite: Sqlite, runId: string): void {
  sqlite.run('INSERT OR IGNORE INTO missing VALUES (?)', runId);
}

/** The query of what runs have cost, and the values in it. */
export function costsOf({ day, parent }: { day?: string; parent?: string }): {
  sql: string;
  values: string[];
} {
  const given = [
    ['end_day', day],
    ['parent', parent],
  ].filter((each): each is [string, string] => each[1] !== undefined);
  const where = given.map(([column]) => `${column} = ?`).join(' AND ');
  return {
    sql: `SELECT tool, task, caller, end_day AS day, count(*) AS runs, sum(cost_usd) AS cost_usd, total(is_unpriced) AS unpriced,
        total(input_tokens) AS input_tokens, total(cache_read_tokens) AS cache_read_tokens, total(output_tokens) AS output_tokens
      FROM costs ${where === '' ? '' : `WHERE ${where}`} GROUP BY 1, 2, 3, 4 ORDER BY 4, 1, 2, 3`,
    values: given.map(([, value]) => value),
  };
}

export function removeRun(sqlite: Sqlite, runId: string): void {
  for (const table of OF_RUNS) sqlite.run(`DELETE FROM ${table} WHERE run_id = ?`, runId);
}

export function removeAllRuns(sqlite: Sqlite): void {
  for (const table of OF_RUNS) sqlite.exec(`DELETE FROM ${table}`);
}

export function runOf(row: SqlRow): IndexedRun {
  return JSON.parse(String(row.run));
}

/** Where a query looks: the table, the condition, and the values in it. */
export function searchOf(query: RunQuery): { from: string; values: SqlValue[] } {
  const facets: [string, readonly SqlValue[]][] = [
    ['parent', given(query.parent)],
    ['caller', given(query.caller).flatMap(callersMeant)],
    ['tool', given(query.tool)],
    ['state', given(query.state)],
    ['kind', given(query.kind)],
  ];
  const others: [string, SqlValue | undefined][] = [
    ['+created_ms >= ?', query.sinceMs],
    ['+created_ms < ?', query.untilMs],
    ['run_id >= ?', query.prefix],
    ['run_id < ?', query.prefix === undefined ? undefined : `${query.prefix}\uffff`],
    ['run_id < ?', query.before],
    ['text GLOB ?', query.text === undefined ? undefined : globOf(query.text)],
  ];
  const wanted = facets.filter(([, values]) => values.length > 0);
  // An index serves one facet alone, a tool with a state, and a parent, which has few children. For all else, `+` makes SQLite scan the
  // narrow table: to look up one run costs as much as to scan twelve.
  const names = wanted.map(([column]) => column).join();
  const isOfRoots = query.parent === null;
  const hasIndex =
    (wanted.length === 1 || names === 'tool,state') &&
    !isOfRoots &&
    others.every(([, value]) => value === undefined);
  const table = query.text === undefined ? 'runs' : 'texts';
  const conditions = wanted.map(
    ([column, values]) => `${hasIndex || column === 'parent' ? '' : '+'}${column} ${isOneOf(values)}`,
  );
  const asked = others.filter(([, value]) => value !== undefined);
  if (isOfRoots) conditions.push('parent IS NULL');
  const where = [...conditions, ...asked.map(([condition]) => condition)].join(' AND ');
  return {
    from: where === '' ? table : `${table} WHERE ${where}`,
    values: [...wanted.flatMap(([, values]) => values), ...asked.map(([, value]) => value!)],
  };
}

function given<T>(value: T | null | undefined): T[] {
  return value === undefined || value === null ? [] : [value];
}

function isOneOf(values: readonly SqlValue[]): string {
  return values.length === 1 ? '= ?' : `IN (${values.map(() => '?').join()})`;
}

/** GLOB takes half the time of instr. It ends at a NUL, which becomes a character that no text has. */
function searchable(text: string): string {
  return text.toLowerCase().replaceAll('\0', '\uffff');
}

function globOf(text: string): string {
  return `*${searchable(text).replaceAll(/[[*?]/g, '[$&]')}*`;
}
