import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { shellCommand } from '../../../util/shell-quote.ts';
import { type PlannedFile, textAt } from '../scaffold/planned-file.ts';
import { AGENTS, type AgentName } from './agents.ts';

/** What ACOR wrote for agents: by it, a part that a person has changed is told from one that is merely old. */
export interface AgentsRecord {
  agents: AgentName[];
  /** SHA-256 of each part as it was written, by `<file>#<part>`. */
  parts: Record<string, string>;
}

const VERSION = 1;

function recordPath(root: string): string {
  return join(root, '.acor', 'agents.json');
}

/** Reads the record of a project. Throws E_CONFIG_INVALID for a file that is none. */
export function readRecord(root: string): AgentsRecord {
  const text = textAt(recordPath(root));
  if (text === undefined) return { agents: [], parts: {} };
  try {
    const { version, agents, parts } = JSON.parse(text ?? '');
    const known = AGENTS.filter((agent) => agents.includes(agent));
    if (version === VERSION && typeof parts === 'object' && parts !== null) return { agents: known, parts };
  } catch {
    // It is told of below.
  }
  const path = recordPath(root);
  throw new AcorError('E_CONFIG_INVALID', `${path} is not as ACOR wrote it`, {
    hint: 'Remove it, then write the files with init --agents again: files that are as they should be are recognised.',
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

/** What the record keeps of a part. */
export function digestOf(spelling: string): string {
  return createHash('sha256').update(spelling).digest('hex');
}
