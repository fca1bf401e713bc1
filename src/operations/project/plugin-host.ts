import * as z from 'zod';
import { acorOperation } from '../define.ts';

/** The process of a plugin, in the compiled program. Internal: ACOR starts it and writes requests to its standard input. */
export const pluginHost = acorOperation({
  name: 'plugin.host',
  summary: 'Run a plugin in a process of its own (used by ACOR itself).',
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
