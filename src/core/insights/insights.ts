import { answers } from './answers.ts';
import { chains } from './chains.ts';
import { failures } from './failures.ts';
import { heavy } from './heavy.ts';
import type { Past } from './past.ts';
import { programs } from './programs.ts';
import type { Proposal, Rule } from './proposal.ts';
import { timeLimits } from './time-limits.ts';
import { unused } from './unused.ts';

interface Surroundings {
  /** Whether a failure with this code may pass. */
  isRetryable(code: string): boolean;
  folderOf(runId: string): string;
}

/** What the past suggests to change: the proposals that concern most runs first, in the same order each time. */
export async function proposalsOf(past: Past, { isRetryable, folderOf }: Surroundings): Promise<Proposal[]> {
  const rules: Rule[] = [
    failures(isRetryable),
    timeLimits,
    answers,
    chains(folderOf),
    programs,
    unused,
    heavy,
  ];
  const found = await Promise.all(rules.map((rule) => rule(past)));
  return found.flat().sort((a, b) => b.runs - a.runs || (idOf(a) < idOf(b) ? -1 : 1));
}

/** Identifies a proposal as long as it concerns the same thing. */
export function idOf({ kind, about }: Proposal): string {
  return [kind, ...about].join(':');
}
