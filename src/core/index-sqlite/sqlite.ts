export type SqlValue = string | number | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** What the index uses of SQLite; Bun and Node have it built in, each in its own way. */
export interface Sqlite {
  /** Runs statements that have no parameters and no answer. */
  exec(sql: string): void;
  run(sql: string, ...values: SqlValue[]): void;
  all(sql: string, ...values: SqlValue[]): SqlRow[];
  close(): void;
}
