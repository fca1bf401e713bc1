import type { IncomingMessage } from 'node:http';
import type { Principal } from '../operations/acor-app.ts';
import type { HttpClient } from '../operations/surfaces.ts';
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
    if (!isOwnHost(headers.host))
      throw refused(
        `the Host header must name this machine, and is ${JSON.stringify(headers.host ?? '')}`,
        HOST_FIX,
      );
    const { origin } = headers;
    if (origin !== undefined && origin !== `http://${headers.host}`)
      throw refused(`pages of ${origin} may not use this server`);
    const site = headers['sec-fetch-site'];
    // A navigation from the address bar has `none`.
    if (site !== undefined && site !== 'same-origin' && site !== 'none')
      throw refused('pages of other sites may not use this server');
  }

  /** Who sends the request; undefined when it shows neither a valid token nor the cookie of a session. */
  callerOf(req: IncomingMessage): Principal | undefined {
    const token = bearerToken(req.headers.authorization);
    if (token !== undefined) {
      const client = this.#clients.find((each) => isSameSecret(token, each.token));
      // A request that shows a token has no session, also when the token is wrong.
      return client && { kind: 'token', name: client.name };
    }
    const session = this.sessions.find(req.headers.cookie);
    if (session === undefined) return undefined;
    return { kind: 'local-user', name: userName(), ...(session === 'person' && { isAtTerminal: true }) };
  }
}

/** The caller of a request. Throws for a request of no caller, and for one that may be that of another site. */
export function admitted(req: IncomingMessage, caller: Principal | undefined): Principal {
  if (caller === undefined)
    throw new HttpError(401, 'E_PERMISSION', 'the request shows neither a token nor a session', {
      hint: 'Send Authorization: Bearer <token>, or open the link that acor serve printed.',
    });
  if (caller.kind === 'local-user' && req.method !== 'GET' && req.headers[PAGE_HEADER] === undefined)
    throw refused(`a page must send the header ${PAGE_HEADER}`);
  return caller;
}

const HOST_FIX =
  'Send Host: 127.0.0.1 or localhost, with the port. A proxy in front of this server must set it, because pages of other sites reach the server by other names.';

function refused(why: string, hint = 'Call this server from this machine, by its own address.'): HttpError {
  return new HttpError(403, 'E_PERMISSION', why, { hint });
}
