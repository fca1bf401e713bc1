import { join } from 'node:path';
import { type PlannedFile, textAt } from '../scaffold/planned-file.ts';
import { apartOnDisk, type InspectedFile, inspectFile } from './inspect-file.ts';
import { readRecord } from './record.ts';
import { type AgentTexts, wantedFiles } from './wanted-files.ts';

/**
 * Plans to take out of a project what ACOR wrote for agents, and nothing else. What a person changed stays. Throws E_CONFIG_INVALID for an
 * invalid record.
 */
export function planRemoval(root: string, texts: AgentTexts): PlannedFile[] {
  const record = readRecord(root);
  const wanted = apartOnDisk(root, wantedFiles(record.agents, texts));
  const files = wanted.flatMap((file) =>
    planOne(inspectFile(root, file, record), record.stood[file.path] ?? []),
  );
  const path = join(root, '.acor', 'agents.json');
  return textAt(path) === undefined ? files : [...files, { path, action: 'remove' }];
}

function planOne({ path, parts, text }: InspectedFile, stood: readonly string[]): PlannedFile[] {
  if (text === undefined || parts.every(({ state }) => state === 'missing')) return [];
  const own = parts.filter(({ state }) => state === 'current' || state === 'stale');
  const kept = parts.filter((part) => part.state !== 'missing' && !own.includes(part));
  const why =
    kept.length === 0 ? {} : { why: `not as ACOR wrote it: ${kept.map(({ part }) => part.key).join(', ')}` };
  if (own.length === 0 || text === null) return [{ path, action: 'keep', ...why }];
  const left = own.reduce<string | undefined>(
    (soFar, { part }) => (soFar === undefined ? undefined : part.cut(soFar, stood)),
    text,
  );
  if (left === undefined) return [{ path, action: 'could_not', why: 'ACOR cannot take out its part' }];
  if (left.trim() === '' && !stood.includes('')) return [{ path, action: 'remove' }];
  return [{ path, action: 'change', text: left, ...why }];
}
