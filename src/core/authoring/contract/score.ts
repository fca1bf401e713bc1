import { unreachable } from '../../../util/unreachable.ts';
import type { Verdict } from './finding.ts';
import { RULES, type RuleId } from './rules.ts';

/** What is left of a rule's weight when its worst finding has this severity. */
const LEFT = { critical: 0, high: 0, medium: 0.4, low: 0.8 } as const;

/** One line of the score: what a rule could give, and what it gave. */
export interface ScoreLine {
  rule: RuleId;
  weight: number;
  /** Null when there was nothing to judge: the rule does not count. */
  earned: number | null;
  why: string;
}

/** From 0 to 100, with the lines that it is the sum of. */
export interface Score {
  value: number;
  earned: number;
  of: number;
  lines: ScoreLine[];
}

/** Adds what the rules gave. A rule with a finding gives a part of its weight, by the worst severity. */
export function scoreOf(verdicts: readonly (readonly [RuleId, Verdict])[]): Score {
  const lines = verdicts.map(([rule, verdict]) => lineOf(rule, verdict));
  const judged = lines.filter(({ earned }) => earned !== null);
  const earned = tenths(judged.reduce((sum, line) => sum + line.earned!, 0));
  const of = judged.reduce((sum, line) => sum + line.weight, 0);
  return { value: of === 0 ? 0 : Math.round((100 * earned) / of), earned, of, lines };
}

function lineOf(rule: RuleId, verdict: Verdict): ScoreLine {
  const { weight } = RULES[rule];
  switch (verdict.kind) {
    case 'holds':
      return { rule, weight, earned: weight, why: 'holds' };
    case 'not-judged':
      return { rule, weight, earned: null, why: verdict.why };
    case 'broken': {
      const left = Math.min(...verdict.findings.map(({ severity }) => LEFT[severity]));
      const why = verdict.findings.map(({ message }) => message).join('; ');
      return { rule, weight, earned: tenths(weight * left), why };
    }
    default:
      return unreachable(verdict);
  }
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
