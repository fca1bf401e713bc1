import * as z from 'zod';
import { SecretStore } from '../../core/secrets/secret-store.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { LIST_SECRETS, storeSecret } from '../../protocol/next-steps.ts';
import { nearest } from '../../util/nearest.ts';
import { acorOperation } from '../define.ts';
import { readSecret } from './read-secret.ts';

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
    const { config, registry } = await ctx.app.tools();
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

export const secretSet = acorOperation({
  name: 'secret.set',
  summary: 'Store a secret for the tools of this project; the value comes from standard input or a file.',
  effect: 'writes',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    name: z.string().describe('The name, as a tool lists it under secrets: in its manifest.'),
    file: z.string().optional().describe('A file with the value; by default standard input.'),
    dry_run: z.boolean().default(false).describe('Check the name and the value, and store nothing.'),
  }),
  output: z.object({
    name: z.string(),
    size: z.int().describe('In bytes.'),
    replaced: z.boolean(),
    dry_run: z.boolean(),
  }),
  positionals: ['name'],
  example: 'acor secret set API_TOKEN --file token.txt',
  moreExamples: ['acor secret set API_TOKEN < token.txt'],
  async run({ name, file, dry_run }, ctx) {
    const { config } = await ctx.app.tools();
    const store = new SecretStore(config.root, ctx.env);
    // Reject an invalid name before asking for the value.
    const replaced = store.has(name);
    const bytes = await readSecret(name, file, ctx);
    store.check(name, bytes);
    if (!dry_run) store.set(name, bytes);
    return { kind: 'data', data: { name, size: bytes.length, replaced, dry_run } };
  },
});

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
    const { config } = await ctx.app.tools();
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

/** The tools that ask for each secret, by the name of the secret. */
export function askedSecrets(
  tools: readonly { name: string; manifest: { secrets: readonly string[] } }[],
): Map<string, string[]> {
  const asked = new Map<string, string[]>();
  for (const { name: tool, manifest } of tools) {
    for (const name of new Set(manifest.secrets)) asked.set(name, [...(asked.get(name) ?? []), tool]);
  }
  return asked;
}
