import type { RunRecord } from '../../protocol/run-record.ts';
import type { RunIndex, RunQuestions } from '../ports/run-index.ts';
import type { RunStore } from '../ports/run-store.ts';
import type { ToolEntry } from '../registry/tool-entry.ts';
import { withPort } from '../sandbox/egress/host.ts';

/** What insights read: runs that have ended, their questions, and the tools as they are now. */
export interface Past {
  /** Oldest first. */
  runs: readonly RunRecord[];
  questions: readonly RunQuestions[];
  tools: ReadonlyMap<string, ToolEntry>;
  /** The rules that answer questions now, and the names of the workflows. */
  answerRules: readonly { action: string; tool?: string | undefined }[];
  workflows: readonly string[];
  /** What one run may cost at most, by the configuration. */
  maxCostUsd: number | undefined;
  /** The hosts, as `host:port`, to which a run connected; undefined when its log does not say. */
  hostsOf(runId: string): Promise<readonly string[] | undefined>;
}

interface Source extends Pick<Past, 'answerRules' | 'workflows' | 'maxCostUsd'> {
  store: RunStore;
  index: RunIndex;
  tools: readonly ToolEntry[];
}

/** Which runs to read: at most so many of the newest, created at this time or later, of this tool. */
interface Range {
  limit: number;
  sinceMs?: number | undefined;
  tool?: string | undefined;
}

/** Reads the newest ended runs. A run that is removed meanwhile is left out. */
export async function readPast({ store, index, tools, ...now }: Source, range: Range): Promise<Past> {
  const found = await index.query({ ...range, order: 'newest' });
  const ended = found.runs.filter(({ ended_at: at }) => at !== null).reverse();
  const runs = await Promise.all(ended.map(({ run_id }) => store.read(run_id).catch(() => undefined)));
  const read = runs.filter((run) => run !== undefined);
  const ids = new Set(read.map(({ run_id }) => run_id));
  const questions = await index.questions({ isOpen: false });
  return {
    runs: read,
    questions: questions.filter(({ run }) => ids.has(run.run_id)),
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    hostsOf: (runId) => hostsOf(store, runId),
    ...now,
  };
}

async function hostsOf(store: RunStore, runId: string): Promise<string[] | undefined> {
  for await (const { egress } of store.tail(runId, ['runner_log'])) {
    if (!Array.isArray(egress)) continue;
    return egress
      .filter(({ verdict }) => verdict === 'allowed')
      .map(({ host, port }) => withPort(host, port));
  }
  return undefined;
}
