import { resolve } from 'node:path';
import * as z from 'zod';
import { LineQueue } from '../../compose/line-queue.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { acorOperation } from '../define.ts';
import { serverToken } from './server-token.ts';

const DEFAULT_PORT = 7332;

export const mcpServe = acorOperation({
  name: 'mcp.serve',
  summary:
    'Serve the tools of this project to agents by the Model Context Protocol, on stdin and stdout or by HTTP.',
  effect: 'writes',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    http: z.boolean().default(false).describe('By HTTP on 127.0.0.1, for clients that show a token.'),
    port: z
      .int()
      .min(0)
      .max(65_535)
      .default(DEFAULT_PORT)
      .describe('With --http: the port; 0 takes one that is free.'),
    token_file: z
      .string()
      .optional()
      .describe(
        'With --http: the file of the token, for its owner alone (0600); made if it is not there. ACOR_MCP_TOKEN does as well; with neither, a token is made and printed.',
      ),
  }),
  output: z.object({}),
  example: 'acor mcp',
  moreExamples: ['acor mcp --http --port 7332 --token-file ~/.config/acor/mcp-token'],
  streams:
    'JSON-RPC messages, one a line; with --http one line that holds the url, and the token if it was made.',
  async run({ http, port, token_file }, ctx) {
    const { surfaces } = ctx.app;
    if (surfaces === undefined) {
      throw new AcorError('E_USAGE', 'there is no server in this process', { hint: 'Run: acor mcp' });
    }
    // What is wrong with the project is told before a client waits for a server.
    await ctx.app.project();
    const { ACOR_MCP_TOKEN: given, ...env } = ctx.env;
    const about = { cwd: ctx.cwd, env, signal: ctx.signal };
    if (!http) {
      if (ctx.person !== null)
        ctx.note('acor: speaking MCP here, for an agent that starts this command; see docs/mcp.md');
      // The server of this transport owns standard input and output: there is nothing else to show.
      await surfaces.mcp({ ...about, http: null });
      return { kind: 'document', document: '', data: {} };
    }
    const file = token_file === undefined ? undefined : resolve(ctx.cwd, token_file);
    const { token, isNew } = serverToken({ given, file });
    const lines = new LineQueue();
    const onListening = async (at: number) => {
      const url = `http://127.0.0.1:${at}/mcp`;
      lines.push({ url, pid: process.pid, ...(isNew && file === undefined ? { token } : {}) });
      ctx.note(`acor: serving MCP at ${url}${file === undefined ? '' : `; the token is in ${file}`}`);
    };
    const served = surfaces.mcp({ ...about, http: { port, token, onListening } }).finally(() => lines.end());
    // The error is thrown where the end is awaited.
    served.catch(() => {});
    return {
      kind: 'events',
      stream: true,
      events: lines.lines(),
      ended: async () => {
        await served;
        return { answer: { kind: 'data', data: {} } };
      },
    };
  },
});
