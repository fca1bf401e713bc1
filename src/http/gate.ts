import type { IncomingMessage } from 'node:http';
import type { HttpClient, Principal } from '../operations/acor-app.ts';
import { ambiguity, bearerToken, isOwnHost, isSameSecret } from '../util/loopback.ts';
import { userName } from '../util/users.ts';
import { BrowserSessions } from './browser-sessions.ts';
import { HttpError } from './http-error.ts';

/** The header that a page must send with a request that may change something: no form and no link of another site can. */
export const PAGE_HEADER = 'x-acor-client';

/** Who may enter: clients with a token, and browsers that were signed in by a link. */
export class Gate {
  readonly sessions: BrowserSessions;
  readonly #clients: readonly HttpClient[];

  /** The first client is the owner of the server: its token signs the sessions of browsers. */
  constructor(clients: readonly [HttpClient, ...HttpClient[]], port: () => number) {
    this.#clients = clients;
    this.sessions = new BrowserSessions(clients[0].token, port);
  }

  /** Throws for a request from another site, whatever it shows: the name is not this machine's, or the page is not this server's. */
  checkPlace(req: IncomingMessage): void {
    const why = ambiguity(req);
    if (why !== undefined)
      throw new HttpError(400, 'E_USAGE', why, { hint: 'Send one of each, and a path.' });
    const { headers } = req;
    if (!isOwnHost(headers.host)) throw refused('the Host header must name this machine');
    const { origin } = headers;
    if (origin !== undefined && origin !== `http://${headers.host}`)
      throw refused(`pages of ${origin} may not use this server`);
    const site = headers['sec-fetch-site'];
    // A navigation from the address bar has `none`.
    if (site !== undefined && site !== 'same-origin' && site !== 'none')
      throw refused('pages of other sites may not use this server');
  }

  /** Whether the request shows a token or the cookie of a session. */
  isKnown(req: IncomingMessage): boolean {
    return this.#clientOf(req) !== undefined || this.#sessionOf(req) !== undefined;
  }

  /** Who sends the request. Throws when it shows neither a token nor the cookie of a session. */
  principalOf(req: IncomingMessage): Principal {
    const client = this.#clientOf(req);
    if (client !== undefined) return { kind: 'token', name: client.name };
    const session = this.#sessionOf(req);
    if (session !== undefined) {
      if (req.method !== 'GET' && req.headers[PAGE_HEADER] === undefined)
        throw refused(`a page must send the header ${PAGE_HEADER}`);
      return { kind: 'local-user', name: userName(), ...(session === 'person' && { isAtTerminal: true }) };
    }
    throw new HttpError(401, 'E_PERMISSION', 'the request shows neither a token nor a session', {
      hint: 'Send Authorization: Bearer <token>, or open the link that acor serve printed.',
    });
  }

  #clientOf({ headers }: IncomingMessage): HttpClient | undefined {
    const token = bearerToken(headers.authorization);
    return this.#clients.find((each) => token !== undefined && isSameSecret(token, each.token));
  }

  /** A request that shows a token has no session, also when the token is wrong. */
  #sessionOf({ headers }: IncomingMessage) {
    return bearerToken(headers.authorization) === undefined ? this.sessions.find(headers.cookie) : undefined;
  }
}

function refused(why: string): HttpError {
  return new HttpError(403, 'E_PERMISSION', why, {
    hint: 'Call this server from this machine, by its own address.',
  });
}
