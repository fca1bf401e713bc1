import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Sqlite, SqlRow } from './sqlite.ts';

/** SQLite as Node has it, from 22.13 on without a flag. */
export function openInNode(path: string): Sqlite {
  const database = new DatabaseSync(path);
  const prepared = new Map<string, StatementSync>();
  const statement = (sql: string) => {
    const known = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, known);
    return known;
  };
  return {
    exec: (sql) => database.exec(sql),
    run: (sql, ...values) => void statement(sql).run(...values),
    // Node's rows have no prototype.
    all: (sql, ...values) =>
      statement(sql)
        .all(...values)
        .map((row) => ({ ...row }) as SqlRow),
    close: () => database.close(),
  };
}
