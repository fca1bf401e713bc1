import { initAgents, type NextStep } from '../../../protocol/next-steps.ts';
import type { AgentName } from './agents.ts';
import { apartOnDisk, type InspectedFile, inspectFile, type PartState } from './inspect-file.ts';
import { readRecord } from './record.ts';
import { type AgentTexts, wantedFiles } from './wanted-files.ts';

/** The state of an agent file, and how to fix it. */
export interface CheckedFile {
  /** Absolute. */
  path: string;
  agents: AgentName[];
  state: PartState;
  /** The parts that need a change, and why. */
  detail: string;
  /** The manual fix; null when there is nothing to do, or `next` is enough. */
  fix: string | null;
  /** The operations that fix it. */
  next?: readonly NextStep[];
}

/**
 * Compares the agent files of a project with what this version of ACOR would write. Throws E_CONFIG_INVALID for an
 * invalid record.
 */
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
        detail: `${keys}: edited by hand; keep it, or replace it and keep the old one as a backup`,
        fix: null,
      };
    case 'foreign':
      return {
        detail: `${keys === 'file' ? 'it' : keys} was not written by ACOR`,
        fix: 'Move it away, then run the command again.',
      };
    case 'unreadable':
      return { detail: 'it is a link, lies outside, or has no place for what is wanted', fix: byHand };
  }
}
