import { Database } from 'bun:sqlite';
import type { Sqlite, SqlRow } from './sqlite.ts';

/** SQLite as Bun has it. */
export function openInBun(path: string): Sqlite {
  const database = new Database(path);
  return {
    exec: (sql) => void database.run(sql),
    run: (sql, ...values) => void database.query(sql).run(...values),
    all: (sql, ...values) => database.query(sql).all(...values) as SqlRow[],
    close: () => database.close(),
  };
}
