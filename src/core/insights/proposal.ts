import type { NextStep } from '../../protocol/next-steps.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { Past } from './past.ts';

export const PROPOSAL_KINDS = [
  'failure',
  'retries',
  'timeout',
  'answer',
  'workflow',
  'adopt',
  'host',
  'input',
  'retried',
  'slow',
  'cost',
] as const;

/** A change that the past suggests. Nothing changes until it is applied. */
export interface Proposal {
  kind: (typeof PROPOSAL_KINDS)[number];
  /** The tool, and its code or question; the program; or the tools in their order. */
  about: string[];
  /** What to do, and why, with the figures: a sentence each. */
  what: string;
  why: string;
  /** So many runs say so, of so many that could. */
  runs: number;
  of: number;
  /** The newest of these runs. */
  examples: string[];
  /** The change that ACOR can make; null when a person has to decide how. */
  change: Change | null;
  next: NextStep[];
}

export type Change =
  | { kind: 'manifest'; tool: string; path: readonly string[]; value: unknown }
  | { kind: 'inputs'; tool: string; without: readonly string[] }
  | { kind: 'budget'; key: string; value: number }
  /** Its manifest comes from its help, so that writing it runs the program in the sandbox. */
  | { kind: 'adopt'; program: string }
  | { kind: 'answer'; rule: { action: string; tool: string; answer: unknown; reason: string } }
  | { kind: 'workflow'; name: string; text: string };

/** Finds the proposals of some kinds. */
export type Rule = (past: Past) => Proposal[] | Promise<Proposal[]>;

/** A pattern counts from so many runs on, or so many events of one kind. */
export const MIN_RUNS = 20;
export const MIN_REPEATS = 3;
const MAX_EXAMPLES = 3;

export function examplesOf(runs: readonly Pick<RunRecord, 'run_id'>[]): string[] {
  return runs
    .slice(-MAX_EXAMPLES)
    .reverse()
    .map(({ run_id }) => run_id);
}
