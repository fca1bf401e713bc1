import * as z from 'zod';
import { acorOperation } from '../define.ts';

/** The process of a plugin, in the compiled program. Nobody calls it by hand: it reads questions from standard input. */
export const pluginHost = acorOperation({
  name: 'plugin.host',
  summary: 'Run a plugin apart from what it takes part in (used by ACOR itself).',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input: z.object({}),
  output: z.object({}),
  example: 'acor plugin-host',
  async run() {
    const { servePlugin } = await import('../../core/plugins/host/serve.ts');
    await servePlugin();
    return { kind: 'document', document: '', data: {} };
  },
});
