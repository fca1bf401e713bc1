import type { AdapterKind } from '../run/attempt/adapter.ts';
import { JSONL } from './jsonl.ts';

/** Loaded late: most tools write the protocol itself. */
const OTHERS: Readonly<Record<string, () => Promise<AdapterKind>>> = {
  plain: async () => (await import('./plain.ts')).PLAIN,
  markers: async () => (await import('./markers.ts')).MARKERS,
  codex: async () => (await import('./codex.ts')).CODEX,
  claude: async () => (await import('./claude.ts')).CLAUDE,
  gemini: async () => (await import('./gemini.ts')).GEMINI,
  'text-map': async () => (await import('./text-map.ts')).TEXT_MAP,
  'jsonl-map': async () => (await import('./jsonl-map.ts')).JSONL_MAP,
};

/** The adapter that a manifest names (contract §1). */
export async function loadAdapter(name: string): Promise<AdapterKind> {
  if (name === 'jsonl') return JSONL;
  if (!Object.hasOwn(OTHERS, name)) throw new Error(`Internal: the adapter ${name} was not checked`);
  return OTHERS[name]!();
}
