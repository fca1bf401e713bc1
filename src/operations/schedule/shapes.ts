import * as z from 'zod';
import { upcomingTimes } from '../../core/schedule/due-times.ts';
import { MISSED, type Schedule } from '../../core/schedule/schedule.ts';
import { TOOL_NAME, TOOL_NAME_RULE } from '../../protocol/names.ts';

export const scheduleName = z.string().regex(TOOL_NAME, TOOL_NAME_RULE);

const firing = z.object({
  at: z.string().describe('The scheduled time; for a watch, when the change was seen.'),
  outcome: z.enum(['started', 'skipped', 'failed']),
  run_id: z.string().nullable(),
  why: z.string().nullable().describe('Why no run was started.'),
});

export const scheduleLine = z.object({
  name: z.string(),
  target: z.string().describe('The tool or the workflow that it runs.'),
  workflow: z.boolean(),
  args: z
    .array(z.string())
    .describe(
      'As they were given; where one is a secret, as the tool gets them, with [secret] in its place.',
    ),
  cron: z.string().nullable(),
  timezone: z.string().nullable(),
  jitter_s: z.number().nullable(),
  missed: z.enum(MISSED).nullable(),
  on: z.array(z.string()).nullable().describe('What a watch watches.'),
  state: z.enum(['active', 'paused']),
  why: z.string().nullable().describe('Why it is paused.'),
  next_at: z.string().nullable().describe('Null for a watch, and while it is paused.'),
  last: firing.nullable(),
  by: z.string().describe('Who added it.'),
  created_at: z.string(),
});

export const shownSchedule = scheduleLine.extend({
  cwd: z.string(),
  upcoming: z.array(z.string()).describe('The next times, with their jitter.'),
  history: z.array(firing).describe('The newest first.'),
  served: z.boolean().describe('Whether a server runs the schedules now.'),
});

export function lineOf(schedule: Schedule): z.output<typeof scheduleLine> {
  const { name, target, operation, args, masked_args, trigger, paused, by, created_at, history } = schedule;
  const cron = trigger.kind === 'cron' ? trigger : undefined;
  return {
    name,
    target,
    workflow: operation === 'workflow.run',
    args: masked_args ?? args,
    cron: cron?.cron ?? null,
    timezone: cron?.timezone ?? null,
    jitter_s: cron?.jitter_s ?? null,
    missed: cron?.missed ?? null,
    on: trigger.kind === 'watch' ? trigger.on : null,
    state: paused === null ? 'active' : 'paused',
    why: paused?.why || null,
    next_at: upcomingOf(schedule, 1)[0] ?? null,
    last: history[0] ?? null,
    by: `${by.kind === 'local-user' ? 'user' : by.kind}:${by.name}`,
    created_at,
  };
}

/** Its next times; none while it is paused. */
export function upcomingOf({ name, trigger, paused, settled }: Schedule, count: number): string[] {
  if (trigger.kind !== 'cron' || paused !== null) return [];
  const fromMs = Math.max(Date.parse(settled), Date.now());
  return upcomingTimes(trigger, name, fromMs, count).map((ms) => new Date(ms).toISOString());
}
