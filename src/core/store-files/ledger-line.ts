import { newSha256 } from '../../util/sha256.ts';

const HASH_FIELD = ',"line_sha256":"';
/** What the first line of a ledger has in place of the hash of a line before it. */
export const GENESIS = '0'.repeat(64);

/**
 * What a line of the ledger says. `run`: a run ended. `cleaned`: a run was removed by `acor clean`. `segment`: the first line of a new
 * segment. `applied`, `discarded`, `undone`: what was done
 * with the changes of a run after its end. `summary`: the first line of a compacted file. `compacted`: names the summaries, so that the chain covers them. `packed`: names
 * a pack and the hash of its table, for each time that the pack is written.
 */
export type LedgerEntry =
  | { type: 'run' | 'cleaned' | 'applied' | 'discarded' | 'undone'; run_id: string; [field: string]: unknown }
  | { type: 'segment'; segment: number }
  | { type: 'packed'; pack: string; table_sha256: string }
  | { type: 'compacted'; files: { file: string; summary_sha256: string }[] };

/** What a line of type `compacted` names; nothing for any other line, or one that was changed. */
export function summariesNamedBy(
  entry: Readonly<Record<string, unknown>>,
): { file: string; summary_sha256: string }[] {
  return entry.type === 'compacted' && Array.isArray(entry.files)
    ? entry.files.filter((each) => each !== null)
    : [];
}

/** A whole line, without its end: the entry, its time, the hash of the line before it, and its own hash. */
export function ledgerLine(entry: object, prev: string): string {
  const line = JSON.stringify({ ...entry, ts: new Date().toISOString(), prev });
  // The hash is at the end of the line, so that a change is found in the line itself, the last one included.
  return `${line.slice(0, -1)}${HASH_FIELD}${sha256(line)}"}`;
}

/** Whether a line of the ledger, without its end, has the hash that it names. */
export function holdsItsHash(line: Buffer): boolean {
  const field = Buffer.byteLength(HASH_FIELD);
  const at = line.length - field - GENESIS.length - 2;
  if (at < 0 || line.toString('latin1', at, at + field) !== HASH_FIELD) return false;
  const hash = newSha256().update(line.subarray(0, at)).update('}').digest('hex');
  return line.toString('latin1', at + field) === `${hash}"}`;
}

/** The SHA-256 of a text or of bytes, in hex. */
export function sha256(data: string | Uint8Array): string {
  return newSha256().update(data).digest('hex');
}
