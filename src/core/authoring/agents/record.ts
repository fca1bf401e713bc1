import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { shellCommand } from '../../../util/shell-words.ts';
import { type PlannedFile, textAt } from '../scaffold/planned-file.ts';
import { AGENTS, type AgentName } from './agents.ts';

/** What ACOR wrote for agents. The hashes distinguish a part that a person edited from one that is only outdated. */
export interface AgentsRecord {
  agents: AgentName[];
  /** SHA-256 of each part as ACOR wrote it, by `<file>#<part>`. */
  parts: Record<string, string>;
  /** What stood in each file before ACOR wrote into it, by the names of `Part.holders`. */
  stood: Record<string, string[]>;
}

const VERSION = 1;

function recordPath(root: string): string {
  return join(root, '.acor', 'agents.json');
}

/** Reads the record of a project. Throws E_CONFIG_INVALID for an invalid file. */
export function readRecord(root: string): AgentsRecord {
  const text = textAt(recordPath(root));
  if (text === undefined) return { agents: [], parts: {}, stood: {} };
  try {
    const { version, agents, parts, stood = {} } = JSON.parse(text ?? '');
    const known = AGENTS.filter((agent) => agents.includes(agent));
    if (
      version === VERSION &&
      isObject(parts) &&
      isObject(stood) &&
      Object.values(stood).every(Array.isArray)
    )
      return { agents: known, parts, stood };
  } catch {
    // Invalid JSON is reported below.
  }
  const path = recordPath(root);
  throw new AcorError('E_CONFIG_INVALID', `${path} is not a valid record of ACOR`, {
    hint: 'Remove it, then run init --agents again: ACOR recognises files that are already correct.',
    details: { file: path },
    next: [{ command: shellCommand(['rm', path]), why: 'Remove it.' }],
  });
}

/** Plans the record. */
export function planRecord(root: string, { agents, parts, stood }: AgentsRecord): PlannedFile {
  const path = recordPath(root);
  const content = { version: VERSION, agents, parts: sorted(parts), stood: sorted(stood) };
  const text = `${JSON.stringify(content, null, 2)}\n`;
  const found = textAt(path);
  if (found === undefined) return { path, action: 'create', text };
  return found === text ? { path, action: 'unchanged' } : { path, action: 'change', text };
}

function sorted<V>(entries: Record<string, V>): Record<string, V> {
  return Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isObject<T>(value: T): value is T & object {
  return typeof value === 'object' && value !== null;
}

/** The hash of a part in the record. */
export function digestOf(spelling: string): string {
  return createHash('sha256').update(spelling).digest('hex');
}
