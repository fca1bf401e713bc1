import { createHmac, randomBytes } from 'node:crypto';
import { isSameSecret } from '../util/loopback.ts';

const SESSION_S = 30 * 86_400;

/** Who has signed in by a link: anybody who could read it, or the person at whose terminal alone it was shown. */
type Session = 'anybody' | 'person';

/**
 * Browsers that a one-time link has signed in. The cookie is signed with a key from the token and nothing is kept, so that
 * a session survives a restart of the server with the same token, and ends with the token. That a person was signed in is signed
 * with a key that only this process has: programs that can read the token cannot forge it, and a restart needs a new link.
 */
export class BrowserSessions {
  readonly #key: Buffer;
  readonly #personKey = randomBytes(32);
  readonly #port: () => number;
  readonly #codes = new Map<string, Session>();

  constructor(token: string, port: () => number) {
    this.#key = createHmac('sha256', token).update('acor browser sessions').digest();
    this.#port = port;
  }

  /** The code of a new link, which works once. A person's is one that nothing but this person's terminal shows. */
  newCode(session: Session): string {
    const code = randomBytes(24).toString('base64url');
    this.#codes.set(code, session);
    return code;
  }

  /** The `Set-Cookie` header for the bearer of a code; undefined when the code is wrong or was used. */
  redeem(code: string): string | undefined {
    const session = this.#codes.get(code);
    if (session === undefined) return undefined;
    this.#codes.delete(code);
    const until = Math.floor(Date.now() / 1000) + SESSION_S;
    const person = session === 'person' ? `.${signed(until, this.#personKey)}` : '';
    const value = `${until}.${signed(until, this.#key)}${person}`;
    return `${this.#name()}=${value}; Path=/; Max-Age=${SESSION_S}; HttpOnly; SameSite=Strict`;
  }

  /** The session that the cookies show; undefined without one. */
  find(cookies: string | undefined): Session | undefined {
    const prefix = `${this.#name()}=`;
    const own = cookies?.split(/; */).find((each) => each.startsWith(prefix));
    const [time = '', signature = '', person = ''] = own?.slice(prefix.length).split('.') ?? [];
    const until = Number(time);
    if (!isSameSecret(signature, signed(until, this.#key)) || until <= Date.now() / 1000) return undefined;
    return isSameSecret(person, signed(until, this.#personKey)) ? 'person' : 'anybody';
  }

  /** Browsers share cookies between the ports of a host. */
  #name(): string {
    return `acor_${this.#port()}`;
  }
}

function signed(until: number, key: Buffer): string {
  return createHmac('sha256', key).update(String(until)).digest('base64url');
}
