import { accessSync, closeSync, constants, rmSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage } from '../../util/error-code.ts';
import { isFile } from '../../util/files.ts';
import { appendOwn } from '../../util/regular-file.ts';
import type { RunIndex, RunSource } from '../ports/run-index.ts';
import { MemoryRunIndex } from '../store-memory/run-index.ts';
import { type Loss, lossOf, SqliteRunIndex, warningOf } from './run-index.ts';
import type { Sqlite } from './sqlite.ts';
import { TABLES_VERSION } from './tables.ts';

/** It is derived: what a crash of the machine takes from it is read again, so no write waits for the disk. */
const PRAGMAS =
  'PRAGMA busy_timeout = 10000; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 268435456;';

/** Opens the index of a store, `.runs/index.sqlite`. Where that cannot be written, what it holds is copied into memory and completed there. */
export async function openRunIndex(root: string, source: RunSource): Promise<RunIndex> {
  const path = join(root, 'index.sqlite');
  const replace = (loss: Loss) => {
    if (!isWritable(root) || loss === 'full') return openSqlite(':memory:');
    // Another process may have made it again, and uses it.
    return loss === 'removed' ? openFile(path) : replaceFile(path);
  };
  try {
    return new SqliteRunIndex(
      isWritable(root) ? await openFile(path) : await openCopy(path),
      source,
      replace,
    );
  } catch (error) {
    if (lossOf(error) === 'damaged')
      return new SqliteRunIndex(
        await replace('damaged'),
        source,
        replace,
        warningOf('damaged', error as Error),
      );
    return new MemoryRunIndex(source, `the index of the runs is kept in memory only: ${errorMessage(error)}`);
  }
}

/** Runs belong to their user alone, and so does the index of them. */
async function openFile(path: string): Promise<Sqlite> {
  try {
    closeSync(appendOwn(path, 0o600));
  } catch {
    // It belongs to another user, in a folder of this one; or it is not a file.
    rmSync(path, { force: true });
    closeSync(appendOwn(path, 0o600));
  }
  const sqlite = await openSqlite(path);
  try {
    sqlite.exec(PRAGMAS);
    return sqlite;
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

async function replaceFile(path: string): Promise<Sqlite> {
  for (const file of [path, `${path}-journal`]) rmSync(file, { force: true });
  return openFile(path);
}

async function openCopy(path: string): Promise<Sqlite> {
  const sqlite = await openSqlite(':memory:');
  if (!isFile(path)) return sqlite;
  try {
    sqlite.exec(`ATTACH '${path.replaceAll("'", "''")}' AS file`);
    const isSame = sqlite.all('PRAGMA file.user_version')[0]!.user_version === TABLES_VERSION;
    if (isSame) copyTables(sqlite);
    sqlite.exec('DETACH file');
    return sqlite;
  } catch {
    // Damaged, or not readable: everything is read from the runs.
    sqlite.close();
    return openSqlite(':memory:');
  }
}

function copyTables(sqlite: Sqlite): void {
  const tables = sqlite.all(
    "SELECT name, sql FROM file.sqlite_master WHERE sql IS NOT NULL ORDER BY type = 'index'",
  );
  for (const { name, sql } of tables) {
    sqlite.exec(String(sql));
    if (/^CREATE TABLE/.test(String(sql)))
      sqlite.exec(`INSERT INTO main."${name}" SELECT * FROM file."${name}"`);
  }
  sqlite.exec(`PRAGMA main.user_version = ${TABLES_VERSION}`);
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Opens a database and creates it if it does not exist; `:memory:` is private to this process. Throws when the runtime has no SQLite. */
export async function openSqlite(path: string): Promise<Sqlite> {
  return process.versions.bun === undefined
    ? (await import('./sqlite-node.ts')).openInNode(path)
    : (await import('./sqlite-bun.ts')).openInBun(path);
}
