import { realpathSync } from 'node:fs';
import type { OperationContext } from '../../compose/operation.ts';
import { type AdoptPlace, placeOf } from '../../core/authoring/adopt/place.ts';
import { packageOf } from '../../core/authoring/contract/target.ts';
import { loadRuntime } from '../../core/process/load-runtime.ts';
import type { AcorApp } from '../acor-app.ts';

const DEADLINE_MS = 30_000;

/** The sandbox in which a program is called to be judged, with the package that it belongs to. */
export async function openProgram(program: string, ctx: OperationContext<AcorApp>): Promise<AdoptPlace> {
  const { config } = await ctx.app.tools();
  const surroundings = { script: null, config, runtime: await loadRuntime(), cwd: ctx.cwd, env: ctx.env };
  const found = await placeOf(program, surroundings);
  const own = packageOf(found.place.program);
  if (own === undefined) return { ...found, place: { ...found.place, deadlineMs: DEADLINE_MS } };
  // A link, as npm makes for a `bin`: the program finds its modules beside the file itself.
  const file = realpathSync(found.place.program);
  const folders = [...found.place.folders, own];
  return { ...found, place: { ...found.place, program: file, folders, deadlineMs: DEADLINE_MS } };
}
