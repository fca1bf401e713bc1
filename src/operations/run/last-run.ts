import type { Project } from '../../core/project/open-project.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { LIST_TOOLS } from '../../protocol/next-steps.ts';
import type { AcorApp } from '../acor-app.ts';

/** The newest run that is no part of another one: what `last` means wherever an id is expected. */
export async function lastRun({ index, store }: Pick<Project, 'index' | 'store'>): Promise<string> {
  const runs = await index();
  const [newest] = (await runs.query({ parent: null, limit: 1 })).runs;
  if (newest !== undefined) return newest.run_id;
  const { missingWords } = await import('./missing-words.ts');
  const missing = missingWords(store, await runs.missing());
  if (missing !== undefined)
    throw new AcorError('E_RUN_NOT_FOUND', 'the project has no run that can be read', {
      hint: missing.words.replace(/^[a-z]/, (first) => first.toUpperCase()),
      next: [...missing.next, LIST_TOOLS],
    });
  throw new AcorError('E_RUN_NOT_FOUND', 'the project has no run yet', {
    hint: 'Run a tool first.',
    next: [LIST_TOOLS],
  });
}

/** The id of a run by what a caller names it: `last` is the newest one. */
export async function namedRun(app: AcorApp, name: string): Promise<string> {
  return name === 'last' ? lastRun(await app.project()) : name;
}
