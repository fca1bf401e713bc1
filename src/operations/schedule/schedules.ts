import * as z from 'zod';
import type { Schedule } from '../../core/schedule/schedule.ts';
import { ScheduleFiles } from '../../core/schedule/schedule-files.ts';
import { watchedState } from '../../core/schedule/watched-state.ts';
import { SERVE } from '../../protocol/next-steps.ts';
import type { AcorApp } from '../acor-app.ts';
import { acorOperation } from '../define.ts';
import { lineOf, scheduleLine, scheduleName, shownSchedule, upcomingOf } from './shapes.ts';

const SHOWN_TIMES = 5;

const name = scheduleName.describe('The name of the schedule or watch.');
const dryRun = z.boolean().default(false).describe('Show what would change, and change nothing.');

export const scheduleList = acorOperation({
  name: 'schedule.list',
  summary: 'List the schedules and watches of this project, with what each did last.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({}),
  output: z.object({
    schedules: z.array(scheduleLine),
    served: z.boolean().describe('Whether a server runs them now; without one, no run is started.'),
  }),
  list: 'schedules',
  example: 'acor schedule list',
  async run(_input, ctx) {
    const files = await filesOf(ctx.app);
    const schedules = files.list().map(lineOf);
    const served = files.isServed();
    const next = schedules.length > 0 && !served ? [SERVE] : [];
    return { kind: 'data', data: { schedules, served }, next };
  },
});

export const scheduleShow = acorOperation({
  name: 'schedule.show',
  summary: 'Show a schedule or watch: its next times, and what it did at the last ones.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({ name }),
  output: shownSchedule,
  positionals: ['name'],
  list: 'history',
  example: 'acor schedule show backup',
  async run({ name }, ctx) {
    const files = await filesOf(ctx.app);
    const found = files.get(name);
    const served = files.isServed();
    const { cwd, history } = found;
    const data = { ...lineOf(found), cwd, upcoming: upcomingOf(found, SHOWN_TIMES), history, served };
    const paused = { operation: 'schedule.resume', input: { name }, why: 'Let it start runs again.' };
    return {
      kind: 'data',
      data,
      next: [...(found.paused === null ? [] : [paused]), ...(served ? [] : [SERVE])],
    };
  },
});

export const scheduleRemove = acorOperation({
  name: 'schedule.remove',
  summary: 'Remove a schedule or watch; its runs stay.',
  effect: 'destroys',
  idempotent: false,
  rateLimit: null,
  input: z.object({ name, dry_run: dryRun }),
  output: z.object({ removed: scheduleLine, dry_run: z.boolean() }),
  positionals: ['name'],
  example: 'acor schedule rm backup',
  async run({ name, dry_run }, ctx) {
    const files = await filesOf(ctx.app);
    const removed = lineOf(files.get(name));
    if (!dry_run) await files.remove(name);
    return { kind: 'data', data: { removed, dry_run } };
  },
});

export const schedulePause = acorOperation({
  name: 'schedule.pause',
  summary: 'Let a schedule or watch start no more runs until it is resumed.',
  effect: 'writes',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    name,
    reason: z.string().default('').describe('Why, for those who see it paused.'),
    dry_run: dryRun,
  }),
  output: scheduleLine.extend({ dry_run: z.boolean() }),
  positionals: ['name'],
  example: 'acor schedule pause backup --reason "the disk is being replaced"',
  async run({ name, reason, dry_run }, ctx) {
    const files = await filesOf(ctx.app);
    const found = files.get(name);
    const pausing = (now: Schedule): Schedule => {
      const paused = now.paused ?? { at: new Date().toISOString(), why: reason };
      // A new reason replaces the one before.
      return { ...now, paused: reason === '' ? paused : { ...paused, why: reason } };
    };
    if (!dry_run) await files.change(name, pausing);
    return { kind: 'data', data: { ...lineOf(pausing(found)), dry_run } };
  },
});

export const scheduleResume = acorOperation({
  name: 'schedule.resume',
  summary: 'Let a paused schedule or watch start runs again; what happened meanwhile is not made up for.',
  effect: 'writes',
  idempotent: true,
  rateLimit: null,
  input: z.object({ name, dry_run: dryRun }),
  output: scheduleLine.extend({ dry_run: z.boolean() }),
  positionals: ['name'],
  example: 'acor schedule resume backup',
  async run({ name, dry_run }, ctx) {
    const files = await filesOf(ctx.app);
    const found = files.get(name);
    if (found.paused === null) return { kind: 'data', data: { ...lineOf(found), dry_run } };
    const settled =
      found.trigger.kind === 'cron'
        ? new Date().toISOString()
        : (await watchedState(found.root, found.trigger.on)).digest;
    const resumed = { ...found, paused: null, pending: null, settled, self_triggered: 0 };
    if (!dry_run)
      await files.change(name, (now) => ({
        ...now,
        paused: null,
        pending: null,
        settled,
        self_triggered: 0,
      }));
    return { kind: 'data', data: { ...lineOf(resumed), dry_run } };
  },
});

async function filesOf(app: AcorApp): Promise<ScheduleFiles> {
  return new ScheduleFiles((await app.project()).config.root, app.env);
}
