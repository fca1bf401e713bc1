import { resolve } from 'node:path';
import * as z from 'zod';
import { LineQueue } from '../../compose/line-queue.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { LOG_LEVELS } from '../../util/log.ts';
import { acorOperation } from '../define.ts';
import { withLogLevel } from './log-level.ts';
import { serverToken, writeNewToken } from './server-token.ts';

const DEFAULT_PORT = 7332;
/** The longest delay of a timer, in seconds: 24 days. */
const MAX_LIMIT_S = 2_147_483;

export const mcpServe = acorOperation({
  name: 'mcp.serve',
  summary:
    'Serve the tools of this project to agents by the Model Context Protocol, on stdin and stdout or by HTTP.',
  effect: 'writes',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    http: z.boolean().default(false).describe('Serve HTTP on 127.0.0.1; clients authenticate with a token.'),
    port: z
      .int()
      .min(0)
      .max(65_535)
      .default(DEFAULT_PORT)
      .describe('With --http: the port; 0 picks a free one.'),
    token_file: z
      .string()
      .optional()
      .describe(
        'With --http: the file of the token, readable by its owner only (0600); created if it does not exist. Alternative: ACOR_MCP_TOKEN. Without either, ACOR creates a token and prints it.',
      ),
    call_limit: z
      .number()
      .positive()
      .max(MAX_LIMIT_S)
      .optional()
      .describe(
        'A call that takes longer than this many seconds answers that its run continues; set it below the timeout of the client. Default: 50, or 300 for Claude Code and Gemini CLI, which wait longer.',
      ),
    max_tools: z
      .int()
      .min(0)
      .default(25)
      .describe(
        'List up to this many tools of the project with their inputs; with more, clients search them with acor_search.',
      ),
    log_level: z
      .enum(LOG_LEVELS)
      .optional()
      .describe(
        "Write ACOR's own log from this level on to standard error, as JSON lines. Alternative: ACOR_LOG, which may name a file.",
      ),
  }),
  output: z.object({}),
  example: 'acor mcp',
  moreExamples: ['acor mcp --http --port 7332 --token-file ~/.config/acor/mcp-token'],
  streams:
    'JSON-RPC messages, one a line; with --http one line with the url, and with the token if ACOR created it.',
  async run({ http, port, token_file, call_limit: callLimitS, max_tools: maxTools, log_level }, ctx) {
    const { surfaces } = ctx.app;
    if (surfaces === undefined) {
      const step = { operation: 'mcp.serve', input: {}, why: 'Serve the tools to agents.' };
      throw new AcorError('E_USAGE', 'an MCP server cannot start another MCP server', {
        hint: 'Start it as a process of its own.',
        next: [step],
      });
    }
    // Report an invalid project now, before a client waits for the server.
    await ctx.app.project();
    const { ACOR_MCP_TOKEN: given, ...others } = ctx.env;
    const env = withLogLevel(others, log_level);
    const about = { cwd: ctx.cwd, env, signal: ctx.signal, callLimitS, maxTools };
    if (!http) {
      if (ctx.person !== null)
        ctx.note(
          'acor: this command speaks MCP on stdin and stdout, for an agent that starts it; see docs/mcp.md',
        );
      // This transport owns standard input and output, so there is nothing else to print.
      await surfaces.mcp({ ...about, http: null });
      return { kind: 'document', document: '', data: {} };
    }
    const file = token_file === undefined ? undefined : resolve(ctx.cwd, token_file);
    const found = serverToken({ given, variable: 'ACOR_MCP_TOKEN', file });
    writeNewToken(found);
    const { token, isNew } = found;
    const lines = new LineQueue();
    const onListening = async (at: number) => {
      const url = `http://127.0.0.1:${at}/mcp`;
      lines.push({ url, pid: process.pid, ...(isNew && file === undefined ? { token } : {}) });
      ctx.note(`acor: serving MCP at ${url}${file === undefined ? '' : `; the token is in ${file}`}`);
    };
    const served = surfaces.mcp({ ...about, http: { port, token, onListening } }).finally(() => lines.end());
    // `ended` throws the error.
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
