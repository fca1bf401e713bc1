import { join } from 'node:path';
import { parseObject } from '../../util/parse-object.ts';
import type { FileRunStore } from '../store-files/file-run-store.ts';
import { KEPT } from '../store-files/layout.ts';
import { Ledger } from '../store-files/ledger.ts';
import { sha256 } from '../store-files/ledger-line.ts';
import { bytesOf } from '../store-files/readable-file.ts';
import { readLedger } from './read-ledger.ts';

interface Effect {
  effect: string;
  paths: string[];
}

/** The files whose changes by a run `acor undo` has undone: what is there now is not the run's. Each list counts only when the ledger has its hash. */
export function undonePaths(store: FileRunStore, runId: string): ReadonlySet<string> {
  const effects = effectsOf(store, runId).filter(({ effect }) => effect === 'undone');
  if (effects.length === 0) return new Set();
  const { undone } = readLedger(new Ledger(store.root), { runId });
  return new Set(
    effects.flatMap(({ paths }) => (undone.has(`${runId} ${sha256(paths.join('\0'))}`) ? paths : [])),
  );
}

function effectsOf(store: FileRunStore, runId: string): Effect[] {
  using file = store.files.open(runId, join(KEPT, 'index.json'));
  const index = file && parseObject(bytesOf(file).toString('utf8'));
  return Array.isArray(index?.effects) ? (index.effects as Effect[]) : [];
}
