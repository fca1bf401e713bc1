import { resolve } from 'node:path';
import * as z from 'zod';
import { LineQueue } from '../../compose/line-queue.ts';
import type { CalledOperation } from '../../core/ports/principal.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { LOG_LEVELS } from '../../util/log.ts';
import { nearest } from '../../util/nearest.ts';
import { allCommands, operationOf } from '../command-forms.ts';
import { acorOperation } from '../define.ts';
import { withLogLevel } from './log-level.ts';
import { type ServerToken, serverToken, USE_NEW, writeNewToken } from './server-token.ts';

const DEFAULT_PORT = 7331;

export const httpServe = acorOperation({
  name: 'http.serve',
  summary: 'Serve the dashboard and the HTTP API of this project on 127.0.0.1.',
  effect: 'writes',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    port: z.int().min(0).max(65_535).default(DEFAULT_PORT).describe('The port; 0 picks a free one.'),
    token_file: z
      .string()
      .optional()
      .describe(
        'The file of the token, readable by its owner only (0600); created if it does not exist. Alternative: ACOR_HTTP_TOKEN. Without either, ACOR creates a token and prints it.',
      ),
    client: z
      .array(z.string())
      .default([])
      .describe(
        'NAME=FILE, one more client with a token of its own, in a file as above; policies and records call it token:NAME. May be given several times.',
      ),
    http_allow: z
      .array(z.string())
      .default([])
      .describe(
        'What clients may do besides reading: a command (answer, cancel, run), or all that writes or destroys; may be given several times.',
      ),
    log_level: z
      .enum(LOG_LEVELS)
      .optional()
      .describe(
        "Write ACOR's own log from this level on to standard error, as JSON lines. Alternative: ACOR_LOG, which may name a file.",
      ),
  }),
  output: z.object({}),
  example: 'acor serve',
  moreExamples: ['acor serve --http-allow answer --http-allow cancel --token-file ~/.config/acor/http-token'],
  streams: 'One line with the url, the link that signs a browser in once, and the token if ACOR created it.',
  async run({ port, token_file, client, http_allow, log_level }, ctx) {
    const { surfaces } = ctx.app;
    if (surfaces === undefined) {
      throw new AcorError('E_USAGE', 'a server cannot start another server', {
        hint: 'Start it as a process of its own.',
        next: [{ operation: 'http.serve', input: {}, why: 'Serve the dashboard and the API.' }],
      });
    }
    const mayCall = allowedBy(http_allow);
    // Report an invalid project now, before a client waits for the server.
    await ctx.app.project();
    const { ACOR_HTTP_TOKEN: given, ...others } = ctx.env;
    const env = withLogLevel(others, log_level);
    const flags = client.map(parsedFlag);
    refuseTwins(flags, 'name', ({ name }) => name, 'Give each client a name of its own.');
    const file = token_file === undefined ? undefined : resolve(ctx.cwd, token_file);
    const owner = serverToken({ given, variable: 'ACOR_HTTP_TOKEN', file });
    const named = flags.map((each) => ({ ...each, ...tokenIn(resolve(ctx.cwd, each.file)) }));
    const source = given ? 'ACOR_HTTP_TOKEN' : `--token-file ${token_file}`;
    const clients = [{ flag: source, name: 'http client', ...owner }, ...named] as const;
    refuseTwins(clients, 'token', ({ newFile, token }) => newFile ?? token, USE_NEW);
    for (const each of clients) writeNewToken(each);
    const lines = new LineQueue();
    const onListening = (at: { port: number; code: string }) => {
      const url = `http://127.0.0.1:${at.port}/`;
      const link = `${url}?code=${at.code}`;
      lines.push({
        url,
        link,
        pid: process.pid,
        ...(owner.isNew && file === undefined ? { token: owner.token } : {}),
      });
      ctx.note(`acor: open ${link} in a browser; the link works once`);
    };
    const served = surfaces
      .http({
        cwd: ctx.cwd,
        env,
        port,
        clients,
        mayCall,
        isAtTerminal: ctx.person !== null,
        onListening,
      })
      .finally(() => lines.end());
    // `ended` throws the error.
    served.catch(() => {});
    return { kind: 'events', stream: true, events: lines.lines(), ended: () => served };
  },
});

interface ClientFlag {
  /** As it was written, for messages. */
  flag: string;
  name: string;
  file: string;
}

function parsedFlag(given: string): ClientFlag {
  const [, name, file] = /^([\w.-]{1,100})=(.+)$/.exec(given) ?? [];
  if (name === undefined || file === undefined)
    throw new AcorError('E_USAGE', `--client must be NAME=FILE, got ${JSON.stringify(given)}`, {
      hint: 'Write a name of letters, digits, . _ - and the file of its token: --client ci=ci-token',
    });
  return { flag: `--client ${given}`, name, file };
}

function tokenIn(file: string): ServerToken {
  return serverToken({ variable: '', file });
}

/** Policies and records could not distinguish two clients with one name or one token. */
function refuseTwins<C extends { flag: string }>(
  clients: readonly C[],
  what: string,
  textOf: (client: C) => string,
  hint: string,
): void {
  const flags = new Map<string, string>();
  for (const client of clients) {
    const value = textOf(client);
    const other = flags.get(value);
    if (other !== undefined)
      throw new AcorError('E_USAGE', `${other} and ${client.flag} have the same ${what}`, { hint });
    flags.set(value, client.flag);
  }
}

const EFFECTS: readonly string[] = ['writes', 'destroys'] satisfies CalledOperation['effect'][];

/**
 * What clients may call besides what only reads, from the words of --http-allow: an effect, an operation, or its
 * command. Throws E_USAGE for another word.
 */
function allowedBy(words: readonly string[]): (operation: CalledOperation) => boolean {
  const allowed = new Set(words.map((word) => (EFFECTS.includes(word) ? word : nameOf(word))));
  return ({ name, effect }) => effect === 'reads' || allowed.has(effect) || allowed.has(name);
}

function nameOf(word: string): string {
  const operation = operationOf(word);
  if (operation !== undefined) return operation;
  const near = nearest(word, [...EFFECTS, ...allCommands()]);
  throw new AcorError('E_USAGE', `--http-allow: there is no operation or effect ${JSON.stringify(word)}`, {
    hint: `${near === undefined ? '' : `Did you mean ${near}? `}Use writes, destroys, or a command, such as answer or cancel.`,
  });
}
