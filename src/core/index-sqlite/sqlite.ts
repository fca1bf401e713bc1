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

/** Opens a database, and makes it if there is none; `:memory:` is one of this process. Throws where the runtime has no SQLite. */
export async function openSqlite(path: string): Promise<Sqlite> {
  return process.versions.bun === undefined
    ? (await import('./sqlite-node.ts')).openInNode(path)
    : (await import('./sqlite-bun.ts')).openInBun(path);
}
