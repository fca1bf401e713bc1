import * as z from 'zod';
import { SecretStore } from '../../core/secrets/secret-store.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { LIST_SECRETS } from '../../protocol/next-steps.ts';
import { nearest } from '../../util/nearest.ts';
import { acorOperation } from '../define.ts';

export const secretDelete = acorOperation({
  name: 'secret.delete',
  summary: 'Remove a stored secret of this project.',
  effect: 'destroys',
  idempotent: false,
  rateLimit: null,
  input: z.object({
    name: z.string().describe('The name of the secret.'),
    dry_run: z.boolean().default(false).describe('Report whether the secret exists, and remove nothing.'),
  }),
  output: z.object({ name: z.string(), deleted: z.boolean() }),
  positionals: ['name'],
  example: 'acor secret delete API_TOKEN',
  async run({ name, dry_run }, ctx) {
    const { config } = await ctx.app.project();
    const store = new SecretStore(config.root, ctx.env);
    const isThere = dry_run ? store.has(name) : store.delete(name);
    if (!isThere) throw noSuchSecret(name, store);
    return { kind: 'data', data: { name, deleted: !dry_run } };
  },
});

function noSuchSecret(name: string, store: SecretStore): AcorError {
  const near = nearest(
    name,
    store.list().map((secret) => secret.name),
  );
  return new AcorError('E_USAGE', `there is no secret '${name}' in this project`, {
    hint: near === undefined ? 'List the secrets of the project.' : `Did you mean ${near}?`,
    next: [LIST_SECRETS],
  });
}
