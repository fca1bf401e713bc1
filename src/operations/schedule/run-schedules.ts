import { Scheduler, type SchedulerOptions } from '../../core/schedule/scheduler.ts';
import { errorMessage } from '../../util/error-code.ts';
import type { AcorApp, Principal } from '../acor-app.ts';
import type { ProjectHost } from '../project-host.ts';

/** Starts the runs of the project's schedules until the signal aborts. Each is a call by the principal who added the schedule. */
export function runSchedules(
  host: ProjectHost,
  { owner, env, signal }: { owner: Principal; env: AcorApp['env']; signal: AbortSignal },
): Promise<void> {
  const scheduler = new Scheduler({
    open: () => host.openFor(owner).app.project(),
    start: async ({ name, operation, target, args, cwd, by }, key) => {
      const input = { args, detach: true, idempotency_key: key };
      const open = host.openForSchedule({ name, cwd, by });
      const answer = await (operation === 'run.start'
        ? open.call(operation, { ...input, tool: target }, { signal })
        : open.call(operation, { ...input, workflow: target }, { signal }));
      if (answer.ok) return String((answer.data as { run_id: unknown }).run_id);
      throw new Error(`${answer.error.code}: ${answer.error.message}`);
    },
    ...logging(env['ACOR_LOG']),
    env,
    signal,
  });
  return scheduler.forever();
}

/** What goes into ACOR's own log. */
function logging(spec: string | undefined): Pick<SchedulerOptions, 'onFiring' | 'onProblem'> {
  if (!spec) return {};
  const log = import('../../util/log.ts').then(({ openLog }) => openLog(spec));
  return {
    onFiring: ({ name }, { outcome, run_id, at }) =>
      void log.then((write) =>
        write(outcome === 'started' ? 'info' : 'warn', 'schedule fired', {
          schedule: name,
          outcome,
          run_id,
          at,
        }),
      ),
    onProblem: (error) =>
      void log.then((write) => write('error', 'schedules not looked at', { error: errorMessage(error) })),
  };
}
