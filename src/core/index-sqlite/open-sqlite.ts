import type { Sqlite } from './sqlite.ts';

/** Opens a database, and makes it if there is none; `:memory:` is one of this process. Throws where the runtime has no SQLite. */
export async function openSqlite(path: string): Promise<Sqlite> {
  return process.versions.bun === undefined
    ? (await import('./sqlite-node.ts')).openInNode(path)
    : (await import('./sqlite-bun.ts')).openInBun(path);
}
