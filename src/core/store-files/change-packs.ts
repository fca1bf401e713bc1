import { existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { syncFolder } from '../../util/atomic-write.ts';
import { withFileLock } from '../../util/file-lock.ts';
import { newSpanId } from '../../util/ids.ts';
import { refuseLinks } from '../../util/regular-file.ts';
import { checkCopy, checkPack } from './check-pack.ts';
import { Ledger } from './ledger.ts';
import { identityOf, PackTable } from './pack-table.ts';
import { PackWriter } from './pack-writer.ts';
import { PackedRuns } from './packed-runs.ts';
import { PlainFile } from './readable-file.ts';
import { restoreFolder } from './restore-folder.ts';

const TEMPORARY_SUFFIX = '.tmp';

/** Does `work` while no other process changes the packs of a store. */
export function withPacks<T>(root: string, work: (packs: PackChanges) => Promise<T>): Promise<T> {
  return withFileLock(join(root, 'packs.lock'), () => {
    refuseLinks(root, 'packs');
    const packs = new PackChanges(root);
    packs.removeTemporaries();
    return work(packs);
  });
}

/**
 * Changes of the packs of a store. Each becomes visible by one rename or one removal of a file, and it is on the disk when the call
 * returns. The ledger names the table of a pack before the pack appears, so that a table that ACOR did not write is found.
 */
export class PackChanges {
  readonly #root: string;
  readonly #packed: PackedRuns;

  constructor(root: string) {
    this.#root = root;
    this.#packed = new PackedRuns(root);
  }

  /** Removes what a killed process had begun to write. */
  removeTemporaries(): void {
    if (!this.#packed.exist) return;
    for (const name of readdirSync(this.#packed.folder))
      if (name.endsWith(TEMPORARY_SUFFIX))
        rmSync(join(this.#packed.folder, name), { recursive: true, force: true });
  }

  /** Makes a pack of the runs that `fill` adds, and removes older copies of them. Returns their ids. */
  async add(fill: (writer: PackWriter) => Promise<void>): Promise<string[]> {
    this.#makeFolder();
    const temporary = this.#temporary();
    try {
      let ids: string[];
      {
        using writer = new PackWriter(temporary);
        await fill(writer);
        ids = writer.runIds.sort();
        if (ids.length === 0) return [];
        writer.finish();
      }
      checkPack(temporary);
      const path = join(this.#packed.folder, this.#packed.newName(ids[0]!, ids.at(-1)!));
      await this.#enter(temporary, path);
      // Fails when there is such a pack already, which no process may replace.
      linkSync(temporary, path);
      syncFolder(this.#packed.folder);
      await this.remove(ids, { except: path });
      return ids;
    } finally {
      rmSync(temporary, { force: true });
    }
  }

  /**
   * Removes runs from all packs, or from all but one. A pack that would be empty is removed, any other is written again without them.
   * `enter` enters them as removed: once there is room for the new pack, and before the first change.
   */
  async remove(
    runIds: readonly string[],
    { except, enter = async () => {} }: { except?: string; enter?: () => Promise<void> } = {},
  ): Promise<void> {
    for (const { path, table } of this.#packed.tables(runIds)) {
      if (table === undefined || path === except) continue;
      const ids = table.ids();
      const gone = new Set(runIds.filter((runId) => table.find(runId) !== undefined));
      if (gone.size === 0) continue;
      if (gone.size < ids.length) {
        await this.#writeAgain(
          table,
          ids.filter((runId) => !gone.has(runId)),
          enter,
        );
      } else {
        await enter();
        rmSync(path);
        syncFolder(this.#packed.folder);
      }
    }
  }

  /** Makes the folder of a packed run again. Nothing is done for a run that has a folder, or is in no pack. */
  async unpack(runId: string): Promise<void> {
    const dir = join(this.#root, runId);
    const found = existsSync(dir) ? undefined : this.#packed.find(runId);
    if (found === undefined) return;
    const temporary = this.#temporary();
    try {
      restoreFolder(found, temporary);
      renameSync(temporary, dir);
      syncFolder(this.#root);
    } finally {
      rmSync(temporary, { recursive: true, force: true });
    }
    await this.remove([runId]);
  }

  /** The packed runs that are steps of a run, directly or not. */
  stepsOf(runId: string): string[] {
    return Array.from(this.#packed.tables(), ({ table }) => table?.stepsOf(runId) ?? []).flat();
  }

  async #writeAgain(table: PackTable, runIds: readonly string[], enter: () => Promise<void>): Promise<void> {
    const temporary = this.#temporary();
    try {
      {
        using writer = new PackWriter(temporary);
        using pack = new PlainFile(table.path);
        for (const runId of runIds) writer.copy(table.find(runId)!, pack);
        writer.finish();
      }
      checkCopy(temporary, table);
      await enter();
      await this.#enter(temporary, table.path);
      if (identityOf(statSync(table.path)) !== table.identity)
        throw new Error('another process has changed the pack');
      renameSync(temporary, table.path);
      syncFolder(this.#packed.folder);
    } finally {
      rmSync(temporary, { force: true });
    }
  }

  async #enter(written: string, path: string): Promise<void> {
    const { sha256 } = PackTable.read(written)!;
    await new Ledger(this.#root).append({ type: 'packed', pack: basename(path), table_sha256: sha256 });
  }

  #temporary(): string {
    return join(this.#packed.folder, `${newSpanId()}${TEMPORARY_SUFFIX}`);
  }

  #makeFolder(): void {
    if (this.#packed.exist) return;
    mkdirSync(this.#packed.folder, { mode: 0o700 });
    syncFolder(this.#root);
  }
}
