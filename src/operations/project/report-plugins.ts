import type { NextStep } from '../../protocol/next-steps.ts';
import type { ProjectTools } from '../acor-app.ts';

/** Writes the failures of plugins to stderr, for commands that have no run log to record them in. Returns the steps that fix them. */
export function reportPlugins({ plugins }: ProjectTools, ctx: { note(line: string): void }): NextStep[] {
  const failures = plugins?.failures ?? [];
  for (const { text } of failures) ctx.note(`acor: ${text}`);
  return failures.flatMap(({ next = [] }) => next);
}
