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
}

const VERSION = 1;

function recordPath(root: string): string {
  return join(root, '.acor', 'agents.json');
}

/** Reads the record of a project. Throws E_CONFIG_INVALID for an invalid file. */
export function readRecord(root: string): AgentsRecord {
  const text = textAt(recordPath(root));
  if (text === undefined) return { agents: [], parts: {} };
  try {
    const { version, agents, parts } = JSON.parse(text ?? '');
    const known = AGENTS.filter((agent) => agents.includes(agent));
    if (version === VERSION && typeof parts === 'object' && parts !== null) return { agents: known, parts };
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
export function planRecord(root: string, { agents, parts }: AgentsRecord): PlannedFile {
  const path = recordPath(root);
  const sorted = Object.fromEntries(Object.entries(parts).sort(([a], [b]) => (a < b ? -1 : 1)));
  const text = `${JSON.stringify({ version: VERSION, agents, parts: sorted }, null, 2)}\n`;
  const found = textAt(path);
  if (found === undefined) return { path, action: 'create', text };
  return found === text ? { path, action: 'unchanged' } : { path, action: 'change', text };
}

/** The hash of a part in the record. */
export function digestOf(spelling: string): string {
  return createHash('sha256').update(spelling).digest('hex');
}
