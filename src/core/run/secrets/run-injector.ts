import type { CoveringStream, SecretInjector } from '../../sandbox/sandbox.ts';
import { headerValue } from '../../secrets/header-value.ts';
import type { Secret } from '../../secrets/secret.ts';
import { WholeForms } from '../../secrets/whole-forms.ts';

/** Puts the secrets of a run into the requests of its tool. */
export class RunInjector implements SecretInjector {
  readonly #secrets: readonly Secret[];
  /** Made for the first answer: it takes longer than the start of many a tool. */
  #made: WholeForms | undefined;

  constructor(secrets: readonly Secret[]) {
    this.#secrets = secrets;
  }

  headerOf(secret: string, format: string): string {
    const bytes = this.#secrets.find(({ name }) => name === secret)?.bytes;
    const value = bytes && headerValue(format, bytes);
    if (value === undefined) throw new Error(`Internal: the secret '${secret}' fits no header`);
    return value;
  }

  cover(bytes: Buffer): Buffer {
    return this.#forms.cover(bytes);
  }

  coveringStream(): CoveringStream {
    return this.#forms.stream();
  }

  get #forms(): WholeForms {
    this.#made ??= new WholeForms(this.#secrets);
    return this.#made;
  }
}
