import { createHmac, randomBytes } from 'node:crypto';
import { isSameSecret } from '../util/loopback.ts';

const SESSION_S = 30 * 86_400;

/**
 * Browsers that a one-time link has signed in. The cookie is signed with a key from the token and nothing is kept, so that
 * a session survives a restart of the server with the same token, and ends with the token.
 */
export class BrowserSessions {
  readonly #key: Buffer;
  readonly #port: () => number;
  readonly #codes = new Set<string>();

  constructor(token: string, port: () => number) {
    this.#key = createHmac('sha256', token).update('acor browser sessions').digest();
    this.#port = port;
  }

  /** The code of a new link, which works once. */
  newCode(): string {
    const code = randomBytes(24).toString('base64url');
    this.#codes.add(code);
    return code;
  }

  /** The `Set-Cookie` header for the bearer of a code; undefined when the code is wrong or was used. */
  redeem(code: string): string | undefined {
    if (!this.#codes.delete(code)) return undefined;
    const until = Math.floor(Date.now() / 1000) + SESSION_S;
    const value = `${until}.${this.#signatureOf(until)}`;
    return `${this.#name()}=${value}; Path=/; Max-Age=${SESSION_S}; HttpOnly; SameSite=Strict`;
  }

  has(cookies: string | undefined): boolean {
    const prefix = `${this.#name()}=`;
    const own = cookies?.split(/; */).find((each) => each.startsWith(prefix));
    const [until = '', signature = ''] = own?.slice(prefix.length).split('.') ?? [];
    return isSameSecret(signature, this.#signatureOf(Number(until))) && Number(until) > Date.now() / 1000;
  }

  /** Browsers share cookies between the ports of a host. */
  #name(): string {
    return `acor_${this.#port()}`;
  }

  #signatureOf(until: number): string {
    return createHmac('sha256', this.#key).update(String(until)).digest('base64url');
  }
}
