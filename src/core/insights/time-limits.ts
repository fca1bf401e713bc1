import type { RunRecord } from '../../protocol/run-record.ts';
import type { ToolEntry } from '../registry/tool-entry.ts';
import { durationsOf } from './figures.ts';
import { examplesOf, MIN_REPEATS, MIN_RUNS, type Proposal, type Rule } from './proposal.ts';

/** A limit this many times longer than the longest run hides a run that hangs. */
const FAR = 20;
/** A proposed limit is this many times the longest run, and at least so many seconds. */
const ROOM = 5;
const LEAST_S = 30;
/** A limit that ends this share of the runs is too short. */
const OFTEN = 0.1;

/** Time limits that end too many runs, or that are far longer than any run needs. */
export const timeLimits: Rule = ({ runs, tools }) =>
  [...Map.groupBy(runs, ({ tool }) => tool)].flatMap(([tool, own]) =>
    tools.has(tool) ? (tooShort(tools.get(tool)!, own) ?? tooLong(tools.get(tool)!, own) ?? []) : [],
  );

function tooShort({ name: tool, manifest }: ToolEntry, runs: readonly RunRecord[]): Proposal | undefined {
  const ended = runs.filter(({ code }) => code === 'E_DEADLINE');
  if (ended.length < MIN_REPEATS || ended.length < runs.length * OFTEN) return undefined;
  const now = ended.at(-1)!.timeout_s;
  // It has been raised since.
  if ((manifest.timeout_s ?? now) > now) return undefined;
  const why = `The limit of ${now} s ended ${ended.length} of ${runs.length} runs.`;
  return proposal({ tool, seconds: now * 2, why, said: ended, of: runs.length });
}

function tooLong({ name: tool, manifest }: ToolEntry, runs: readonly RunRecord[]): Proposal | undefined {
  const completed = runs.filter(({ state }) => state === 'completed');
  const longest = durationsOf(completed).at(-1);
  if (completed.length < MIN_RUNS || longest === undefined) return undefined;
  const now = manifest.timeout_s ?? completed.at(-1)!.timeout_s;
  const seconds = Math.max(LEAST_S, Math.ceil(longest * ROOM));
  if (longest * FAR > now || seconds >= now) return undefined;
  const why = `The longest of ${completed.length} completed runs took ${longest} s; a run that hangs is stopped after ${now} s.`;
  return proposal({ tool, seconds, why, said: completed, of: runs.length });
}

interface Found {
  tool: string;
  seconds: number;
  why: string;
  said: readonly RunRecord[];
  of: number;
}

function proposal({ tool, seconds, why, said, of }: Found): Proposal {
  return {
    kind: 'timeout',
    about: [tool],
    what: `Set timeout_s of ${tool} to ${seconds}.`,
    why,
    runs: said.length,
    of,
    examples: examplesOf(said),
    change: { kind: 'manifest', tool, path: ['timeout_s'], value: seconds },
    next: [],
  };
}
