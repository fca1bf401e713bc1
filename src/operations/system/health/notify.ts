import type { HealthCheck } from '../../../compose/health-shape.ts';
import type { Project } from '../../acor-app.ts';
import { commandOf } from '../../command-forms.ts';

const TEST = { operation: 'outbox.deliver', input: { test: true }, why: 'Test the receivers.' } as const;

/** Checks that the receivers of messages take them. Nothing without receivers. */
export async function checkNotify({ config, workspaces }: Project): Promise<HealthCheck[]> {
  const [{ OutboxFiles }, { receiversOf }] = await Promise.all([
    import('../../../core/outbox/outbox-files.ts'),
    import('../../../core/outbox/receivers.ts'),
  ]);
  const receivers = receiversOf(config);
  if (receivers.length === 0) return [];
  const states = new OutboxFiles(workspaces.root).receivers();
  const failing = receivers.flatMap(({ id, target }): HealthCheck[] => {
    const state = states[id];
    if (state === undefined) return [];
    const detail = `${target} has not taken a message ${state.failed} times in a row: ${state.error}`;
    return [{ name: 'notify', status: 'degraded', detail, fix: commandOf(TEST) }];
  });
  if (failing.length > 0) return failing;
  return [{ name: 'notify', status: 'ok', detail: `${receivers.length} receivers` }];
}
