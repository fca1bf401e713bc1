import type { PlannedFile } from '../scaffold/planned-file.ts';
import { AGENTS, type AgentName } from './agents.ts';
import { apartOnDisk, type InspectedFile, inspectFile, type PartState } from './inspect-file.ts';
import { type AgentsRecord, digestOf, planRecord, readRecord } from './record.ts';
import { type AgentTexts, wantedFiles } from './wanted-files.ts';

/**
 * Plans the files of these agents, and leaves the files of other agents as they are. What a person wrote or changed
 * stays. With `force`, ACOR's own parts that a person changed are replaced, and the changed file is kept as a backup.
 * Throws E_CONFIG_INVALID for an invalid record.
 */
export function planAgents(
  root: string,
  agents: readonly AgentName[],
  texts: AgentTexts,
  { force }: { force: boolean },
): PlannedFile[] {
  const record = readRecord(root);
  const all = AGENTS.filter((agent) => agents.includes(agent) || record.agents.includes(agent));
  const files = apartOnDisk(root, wantedFiles(agents, texts)).map((file) => inspectFile(root, file, record));
  const written = files.flatMap(({ parts }) =>
    parts.flatMap(({ part, name, state }) =>
      state === 'current' || isWritten(state, force) ? [[name, digestOf(part.wanted)] as const] : [],
    ),
  );
  const parts = { ...record.parts, ...Object.fromEntries(written) };
  const stood = { ...record.stood, ...stoodIn(files.filter((file) => !isKnown(file, record))) };
  return [...files.map((file) => planOne(file, force)), planRecord(root, { agents: all, parts, stood })];
}

/** Whether ACOR has written into a file before. */
function isKnown({ parts }: InspectedFile, record: AgentsRecord): boolean {
  return parts.some(({ name }) => Object.hasOwn(record.parts, name));
}

/** What stands in each file, and is to hold a part that ACOR writes now. */
function stoodIn(files: readonly InspectedFile[]): AgentsRecord['stood'] {
  const found = files.map(({ wanted, text, parts }) => {
    const missing = typeof text === 'string' ? parts.filter(({ state }) => state === 'missing') : [];
    const holders = new Set(missing.flatMap(({ part }) => part.holders(text ?? '')));
    return [wanted.path, [...holders]] as [string, string[]];
  });
  return Object.fromEntries(found.filter(([, holders]) => holders.length > 0));
}

function planOne(file: InspectedFile, force: boolean): PlannedFile {
  const { path, parts, text } = file;
  if (text === null)
    return {
      path,
      action: 'could_not',
      why: 'it is a link, not a plain file, or outside of the project',
      by_hand: parts[0]!.part.byHand,
    };
  const lost = parts.find(({ state }) => state === 'unreadable');
  if (lost !== undefined)
    return { path, action: 'could_not', why: 'ACOR cannot insert its part', by_hand: lost.part.byHand };
  if (file.state === 'current') return { path, action: 'unchanged' };
  if (parts.every(({ state }) => state === 'foreign'))
    return {
      path,
      action: 'keep',
      why: 'ACOR did not write it; move it away first if ACOR may replace it',
    };
  const written = parts.filter(({ state }) => isWritten(state, force));
  const why = whyKept(parts, force);
  const renewed = written.reduce<string | undefined>(
    (soFar, { part }) => (soFar === undefined ? undefined : part.put(soFar)),
    text ?? '',
  );
  if (renewed === undefined)
    return {
      path,
      action: 'could_not',
      why: 'ACOR cannot insert its part',
      by_hand: written[0]!.part.byHand,
    };
  if (text === undefined) return { path, action: 'create', text: renewed };
  if (written.length === 0) return { path, action: 'keep', ...why };
  if (written.some(({ state }) => state === 'changed')) return { path, action: 'replace', text: renewed };
  const isWhole = parts[0]!.part.key === 'file';
  return { path, action: isWhole ? 'change' : 'merge', text: renewed, ...why };
}

function whyKept(parts: InspectedFile['parts'], force: boolean): { why?: string } {
  const keysIn = (wanted: PartState) =>
    parts.filter(({ state }) => state === wanted).map(({ part }) => part.key);
  const [changed, foreign] = [force ? [] : keysIn('changed'), keysIn('foreign')];
  const reasons = [
    ...(changed.length > 0 ? [`it was edited by hand: ${changed.join(', ')}; --force replaces it`] : []),
    ...(foreign.length > 0 ? [`ACOR did not write it: ${foreign.join(', ')}`] : []),
  ];
  return reasons.length === 0 ? {} : { why: `kept, because ${reasons.join('; ')}` };
}

function isWritten(state: string, force: boolean): boolean {
  return state === 'missing' || state === 'stale' || (force && state === 'changed');
}
