import type { NextStep } from '../../protocol/next-step.ts';
import type { Project } from '../acor-app.ts';

/** Tells of plugins that do not do what they should, where there is no run whose log would tell of it. Returns what mends it. */
export function reportPlugins({ plugins }: Project, ctx: { note(line: string): void }): NextStep[] {
  const failures = plugins?.failures ?? [];
  for (const { text } of failures) ctx.note(`acor: ${text}`);
  return failures.flatMap(({ next = [] }) => next);
}
