import type { NextStep } from '../../../protocol/next-step.ts';
import { initAgents } from '../../../protocol/next-steps.ts';
import type { AgentName } from './agents.ts';
import { type InspectedFile, inspectFile, type PartState } from './inspect-file.ts';
import { apartOnDisk } from './places.ts';
import { readRecord } from './record.ts';
import { type AgentTexts, wantedFiles } from './wanted-files.ts';

/** How a file of agents stands, and what mends it. */
export interface CheckedFile {
  /** Absolute. */
  path: string;
  agents: AgentName[];
  state: PartState;
  /** Which parts are not as they should be, and why. */
  detail: string;
  /** What a person does by hand; null where nothing is, or `next` is enough. */
  fix: string | null;
  /** The operations that fix it, if any. */
  next?: readonly NextStep[];
}

/** Holds the files of a project's agents against what this ACOR would write. Throws E_CONFIG_INVALID for a bad record. */
export function checkAgents(root: string, texts: AgentTexts): { agents: AgentName[]; files: CheckedFile[] } {
  const record = readRecord(root);
  const wanted = apartOnDisk(root, wantedFiles(record.agents, texts));
  const files = wanted.map((file) => checked(inspectFile(root, file, record), record.agents));
  return { agents: record.agents, files };
}

function checked(
  { path, wanted, text, parts, state }: InspectedFile,
  agents: readonly AgentName[],
): CheckedFile {
  const bad = parts.filter((part) => part.state === state);
  const keys = bad.map(({ part }) => part.key).join(', ');
  const words = wordsOf(state, keys, text === undefined, bad[0]!.part.byHand);
  return { path, agents: wanted.agents, state, ...words, ...stepsOf(state, agents) };
}

function stepsOf(state: PartState, agents: readonly AgentName[]): Pick<CheckedFile, 'next'> {
  switch (state) {
    case 'current':
    case 'unreadable':
      return {};
    case 'changed':
      return { next: [initAgents(agents, { force: true })] };
    case 'missing':
    case 'stale':
    case 'foreign':
      return { next: [initAgents(agents)] };
  }
}

function wordsOf(
  state: PartState,
  keys: string,
  isGone: boolean,
  byHand: string,
): Pick<CheckedFile, 'detail' | 'fix'> {
  switch (state) {
    case 'current':
      return { detail: 'as this ACOR writes it', fix: null };
    case 'missing':
      return { detail: isGone ? 'there is no such file' : `it lacks ${keys}`, fix: null };
    case 'stale':
      return {
        detail: `${keys}: of another version of ACOR, and not changed since`,
        fix: null,
      };
    case 'changed':
      return {
        detail: `${keys}: changed by hand; keep it so, or have it renewed, and the old one put aside`,
        fix: null,
      };
    case 'foreign':
      return { detail: 'it was not written by ACOR', fix: 'Move it away, then have it written.' };
    case 'unreadable':
      return { detail: 'it is a link, lies outside, or has no place for what is wanted', fix: byHand };
  }
}
