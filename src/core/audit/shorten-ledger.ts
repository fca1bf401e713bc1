import { existsSync } from 'node:fs';
import { compactLedger } from '../store-files/compact-ledger.ts';
import type { FileRunStore } from '../store-files/file-run-store.ts';
import { Ledger } from '../store-files/ledger.ts';
import { unlessFull } from '../store-files/storage-error.ts';
import { readLedger } from './read-ledger.ts';

/** Compacts the ledger once half of its lines belong to removed runs. Does not touch a ledger that another program changed. */
export async function shortenLedger(store: FileRunStore): Promise<void> {
  const ledger = new Ledger(store.root);
  const isThere = (runId: string) => store.files.has(runId) || existsSync(store.layout(runId).dir);
  const isSound = () => readLedger(ledger).problems.length === 0;
  await unlessFull(() => compactLedger(ledger, { isThere, isSound }));
}
