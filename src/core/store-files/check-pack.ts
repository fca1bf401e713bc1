import { damagedPack, type PackedFileEntry, PackTable } from './pack-table.ts';
import { type FoundRun, PackedFile } from './packed-file.ts';
import { PlainFile, sha256Of } from './readable-file.ts';

const CHUNK_BYTES = 1 << 18;

/** Reads a new pack as any reader does. Throws when the content of a file is not what was packed. */
export function checkPack(path: string): void {
  const table = tableOf(path);
  for (const runId of table.ids()) {
    const run = table.find(runId)!;
    for (const file of run.files)
      if (packedSha256({ table, run }, file) !== file.sha256)
        throw damagedPack(path, `${file.path} does not have its SHA-256`, runId);
  }
}

/** Throws when a run in a copy of a pack is not stored as in the original, damaged or not. */
export function checkCopy(copy: string, original: PackTable): void {
  const table = tableOf(copy);
  using from = new PlainFile(original.path);
  using to = new PlainFile(copy);
  for (const runId of table.ids()) {
    const [was, is] = [original.find(runId)!, table.find(runId)!];
    for (let at = 0; at < is.bytes; at += CHUNK_BYTES) {
      const [one, other] = [from, to].map((file, index) => {
        const part = Buffer.alloc(Math.min(CHUNK_BYTES, is.bytes - at));
        file.read(part, (index === 0 ? was : is).at + at);
        return part;
      });
      if (!one!.equals(other!)) throw damagedPack(copy, 'it was not written as it should be', runId);
    }
  }
}

/** The SHA-256 of the content that a pack has of a file. */
function packedSha256(found: FoundRun, file: PackedFileEntry): string {
  using content = PackedFile.open(found, file);
  if (content === undefined) throw damagedPack(found.table.path, 'it was replaced while it was read');
  return sha256Of(content);
}

function tableOf(path: string): PackTable {
  const table = PackTable.read(path);
  if (table === undefined) throw damagedPack(path, 'it does not exist');
  return table;
}
