import type { HealthCheck } from '../../../compose/health-shape.ts';
import { SecretStore } from '../../../core/secrets/secret-store.ts';
import { AcorError } from '../../../protocol/acor-error.ts';
import { LIST_SECRETS, storeSecret } from '../../../protocol/next-steps.ts';
import type { Project } from '../../acor-app.ts';
import { commandOf } from '../../command-forms.ts';
import { askedSecrets } from '../secrets.ts';

/** Checks that the secrets that tools need are stored, and that no other user can read the stored ones. */
export async function checkSecrets(
  { config, registry }: Project,
  env: Readonly<Record<string, string | undefined>>,
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
