import type { CoveringStream, SecretInjector } from '../../sandbox/sandbox.ts';
import { headerValue } from '../../secrets/header-value.ts';
import { Redaction } from '../../secrets/redaction.ts';
import type { Secret } from '../../secrets/secret.ts';

/** Puts the secrets of a run into the requests of its tool. */
export class RunInjector implements SecretInjector {
  readonly #secrets: readonly Secret[];
  readonly #redaction: Redaction;

  constructor(secrets: readonly Secret[]) {
    this.#secrets = secrets;
    this.#redaction = new Redaction(secrets);
  }

  headerOf(secret: string, format: string): string {
    const bytes = this.#secrets.find(({ name }) => name === secret)?.bytes;
    const value = bytes && headerValue(format, bytes);
    if (value === undefined) throw new Error(`Internal: the secret '${secret}' fits no header`);
    return value;
  }

  cover(bytes: Buffer): Buffer {
    return this.#redaction.cover(bytes);
  }

  coveringStream(): CoveringStream {
    return this.#redaction.coveringStream();
  }
}
