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
  /** A command or an edit; null where nothing is to be done. */
  fix: string | null;
}

/** Holds the files of a project's agents against what this ACOR would write. Throws E_CONFIG_INVALID for a bad record. */
export function checkAgents(root: string, texts: AgentTexts): { agents: AgentName[]; files: CheckedFile[] } {
  const record = readRecord(root);
  const wanted = apartOnDisk(root, wantedFiles(record.agents, texts));
  const command = `acor init --agents ${record.agents.join(',')}`;
  const files = wanted.map((file) => checked(inspectFile(root, file, record), command));
  return { agents: record.agents, files };
}

function checked({ path, wanted, text, parts, state }: InspectedFile, command: string): CheckedFile {
  const bad = parts.filter((part) => part.state === state);
  const keys = bad.map(({ part }) => part.key).join(', ');
  const [detail, fix] = wordsOf(state, keys, text === undefined, command, bad[0]!.part.byHand);
  return { path, agents: wanted.agents, state, detail, fix };
}

function wordsOf(
  state: PartState,
  keys: string,
  isGone: boolean,
  command: string,
  byHand: string,
): [detail: string, fix: string | null] {
  switch (state) {
    case 'current':
      return ['as this ACOR writes it', null];
    case 'missing':
      return [isGone ? 'there is no such file' : `it lacks ${keys}`, command];
    case 'stale':
      return [`${keys}: of another version of ACOR, and not changed since`, command];
    case 'changed':
      return [
        `${keys}: changed by hand; keep it so, or have it renewed, and the old one put aside`,
        `${command} --force`,
      ];
    case 'foreign':
      return ['it was not written by ACOR', `Move it away, then: ${command}`];
    case 'unreadable':
      return ['it is a link, lies outside, or has no place for what is wanted', byHand];
  }
}
