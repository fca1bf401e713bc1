import type { Finding, SurfaceStep } from './finding.ts';
import type { RuleId } from './rules.ts';

/** One change of the surface, with the rule that asks for it. */
export interface SurfacePlanStep extends SurfaceStep {
  rule: RuleId;
}

/** One phase of the change, in the order of the rollout. */
export interface Phase {
  phase: 'add' | 'split' | 'announce' | 'switch' | 'remove';
  what: string;
  commands: string[];
  /** What keeps callers of today working. */
  wrapper: string;
  /** How long both forms are there. */
  window: string;
}

const NO_WINDOW = 'none: nothing that exists changes';
const WINDOW = 'until no recorded call uses the old form, one minor version at least';

/** The changes of all findings, each once. */
export function surfacePlan(findings: readonly Finding[]): SurfacePlanStep[] {
  const steps = new Map<string, SurfacePlanStep>();
  for (const { rule, surface } of findings)
    for (const step of surface) {
      const key = `${step.change}\0${step.command}\0${step.what}`;
      if (!steps.has(key)) steps.set(key, { ...step, rule });
    }
  return [...steps.values()];
}

/** The order in which the changes can be made without breaking a caller of today. */
export function compatibilityPlan(steps: readonly SurfacePlanStep[]): Phase[] {
  const of = (test: (step: SurfacePlanStep) => boolean) => [
    ...new Set(steps.filter(test).map(({ command }) => command)),
  ];
  const additions = of(({ change, breaks }) => change === 'add' || (change === 'change' && !breaks));
  const splits = of(({ change }) => change === 'split');
  const switches = of(({ change, breaks }) => change === 'change' && breaks);
  const removals = of(({ change }) => change === 'deprecate');
  const phases: Phase[] = [
    {
      phase: 'add',
      what: 'Add what is missing beside what is there.',
      commands: additions,
      wrapper: 'none',
      window: NO_WINDOW,
    },
    {
      phase: 'split',
      what: 'Add one command for each action.',
      commands: splits,
      wrapper: 'the old command calls the new ones',
      window: NO_WINDOW,
    },
    {
      phase: 'announce',
      what: 'Write a warning with the replacement to stderr when the old form is used.',
      commands: [...new Set([...splits, ...switches, ...removals])],
      wrapper: 'the old form works unchanged',
      window: WINDOW,
    },
    {
      phase: 'switch',
      what: 'Make the new form the default, with a flag or a variable for the old one.',
      commands: switches,
      wrapper: 'a flag or a variable asks for the old form',
      window: WINDOW,
    },
    {
      phase: 'remove',
      what: 'Remove the old forms. Primitives stay.',
      commands: [...new Set([...splits, ...removals])],
      wrapper: 'none',
      window: 'after the window of the announcement',
    },
  ];
  return phases.filter(({ commands }) => commands.length > 0);
}
