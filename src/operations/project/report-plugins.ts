import type { Project } from '../acor-app.ts';

/** Tells of plugins that do not do what they should, where there is no run whose log would tell of it. Returns what mends it. */
export function tellOfPlugins({ plugins }: Project, ctx: { note(line: string): void }): string[] {
  const troubles = plugins?.troubles ?? [];
  for (const { text } of troubles) ctx.note(`acor: ${text}`);
  return troubles.flatMap(({ next = [] }) => next);
}
