import type { HealthCheck } from '../../../compose/health-shape.ts';
import type { LoadedConfig } from '../../../core/config/load.ts';
import { hostFolder, hostsFolder, isLive, isPrivate, processesIn } from '../../../core/host/host-folder.ts';
import { SecretStore } from '../../../core/secrets/secret-store.ts';
import { AcorError } from '../../../protocol/acor-error.ts';
import { LIST_SECRETS, storeSecret } from '../../../protocol/next-steps.ts';
import type { Project } from '../../acor-app.ts';
import type { WriteCommand } from '../../command-forms.ts';
import { askedSecrets } from '../secrets.ts';

/** Whether calls of programs find a waiting process. Nothing where the configuration wants no host. */
export function checkHost(
  { config: { host } }: LoadedConfig,
  { cwd, env }: { cwd: string; env: Readonly<Record<string, string | undefined>> },
): HealthCheck[] {
  if (host === 'off') return [];
  const folder = hostFolder(cwd, env);
  if (folder === undefined) {
    const detail =
      'calls from here run by themselves: the caller is in a sandbox or has limited processor time, or this is not the compiled program on Linux';
    return [{ name: 'host', status: 'ok', detail }];
  }
  const processes = processesIn(folder);
  if (processes.length > 0 && !isPrivate(folder)) {
    const detail = `other users may write to ${folder}, so that no call looks for a host there`;
    return [{ name: 'host', status: 'degraded', detail, fix: `rm -r ${hostsFolder(env)}` }];
  }
  const live = processes.filter(isLive).length;
  const detail = live === 0 ? 'the next call of a program starts a process that waits' : `${live} processes`;
  return [{ name: 'host', status: 'ok', detail }];
}

const TEST = { operation: 'outbox.deliver', input: { test: true }, why: 'Test the receivers.' } as const;

/** Checks that the receivers of messages take them. Nothing without receivers. */
export async function checkNotify(
  { config, workspaces }: Project,
  commandOf: WriteCommand,
): Promise<HealthCheck[]> {
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

/** Checks that the secrets that tools need are stored, and that no other user can read the stored ones. */
export async function checkSecrets(
  { config, registry }: Project,
  env: Readonly<Record<string, string | undefined>>,
  commandOf: WriteCommand,
): Promise<HealthCheck[]> {
  const checks: HealthCheck[] = [];
  try {
    const store = new SecretStore(config.root, env);
    for (const { message, next, hint } of store.problems()) {
      const fix = next?.[0] === undefined ? (hint ?? commandOf(LIST_SECRETS)) : commandOf(next[0]);
      checks.push({ name: 'secrets.mode', status: 'degraded', detail: message, fix });
    }
    for (const [name, tools] of askedSecrets(await registry.list())) {
      if (store.has(name)) continue;
      checks.push({
        name: 'secrets.missing',
        status: 'degraded',
        detail: `${name} is not stored; needed by: ${tools.join(', ')}`,
        fix: commandOf(storeSecret(name)),
      });
    }
    if (checks.length > 0) return checks;
    return [{ name: 'secrets', status: 'ok', detail: `${store.list().length} stored, none missing` }];
  } catch (error) {
    if (!(error instanceof AcorError)) throw error;
    return [
      {
        name: 'secrets',
        status: 'degraded',
        detail: error.message,
        fix: error.hint ?? commandOf(LIST_SECRETS),
      },
    ];
  }
}
