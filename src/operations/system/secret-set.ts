import * as z from 'zod';
import { SecretStore } from '../../core/secrets/secret-store.ts';
import { acorOperation } from '../define.ts';
import { readSecret } from './read-secret.ts';

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
    const { config } = await ctx.app.project();
    const store = new SecretStore(config.root, ctx.env);
    // Reject an invalid name before asking for the value.
    const replaced = store.has(name);
    const bytes = await readSecret(name, file, ctx);
    store.check(name, bytes);
    if (!dry_run) store.set(name, bytes);
    return { kind: 'data', data: { name, size: bytes.length, replaced, dry_run } };
  },
});
