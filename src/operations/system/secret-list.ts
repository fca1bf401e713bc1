import * as z from 'zod';
import { SecretStore } from '../../core/secrets/secret-store.ts';
import { storeSecret } from '../../protocol/next-steps.ts';
import { acorOperation } from '../define.ts';
import { askedSecrets } from './asked-secrets.ts';

const secretLine = z.object({
  name: z.string(),
  stored: z.boolean().describe('False for a secret that a tool needs and that is not stored.'),
  size: z.int().nullable().describe('In bytes.'),
  mode: z.string().nullable().describe('The permissions of the file; 600 unless they were changed.'),
  changed_at: z.string().nullable(),
  tools: z.array(z.string()).describe('The tools of this project that need it.'),
});

type SecretLine = z.output<typeof secretLine>;

export const secretList = acorOperation({
  name: 'secret.list',
  summary: 'List the secrets of this project and the tools that need them, never their values.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({}),
  output: z.object({ secrets: z.array(secretLine) }),
  list: 'secrets',
  example: 'acor secret list',
  async run(_input, ctx) {
    const { config, registry } = await ctx.app.project();
    const asked = askedSecrets(await registry.list());
    const stored = new SecretStore(config.root, ctx.env).list();
    const lines: SecretLine[] = stored.map((secret) => ({
      ...secret,
      stored: true,
      tools: asked.get(secret.name) ?? [],
    }));
    const missing = [...asked].filter(([name]) => !stored.some((secret) => secret.name === name));
    for (const [name, tools] of missing) {
      lines.push({ name, stored: false, size: null, mode: null, changed_at: null, tools });
    }
    lines.sort((a, b) => (a.name < b.name ? -1 : 1));
    const next = missing.map(([name]) => storeSecret(name));
    return { kind: 'data', data: { secrets: lines }, ...(next.length > 0 && { next }) };
  },
});
