import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { addressBytes } from '../address.ts';
import { type Host, nameOf } from '../host.ts';
import {
  bitString,
  explicit,
  implicit,
  integer,
  objectId,
  octetString,
  sequence,
  setOf,
  TRUE,
  time,
  utf8String,
} from './der.ts';

const HOUR_MS = 3_600_000;
/** Longer than any run. The certificates are of no use to anybody after it anyway: the keys are gone. */
const LIFETIME_MS = 90 * 24 * HOUR_MS;

const MAX_CONTEXTS = 200;

const SHA256_WITH_ECDSA = sequence(objectId('1.2.840.10045.4.3.2'));
const COMMON_NAME = objectId('2.5.4.3');
const SERVER_AUTH = objectId('1.3.6.1.5.5.7.3.1');

/**
 * The certificate authority of one run. Its key exists in the memory of this process only. Only the run's own tool
 * trusts it.
 */
export class RunAuthority {
  readonly certificate: string;
  readonly #key = newKey();
  readonly #name = nameFor(`ACOR run ${randomBytes(8).toString('hex')}`);
  readonly #leafKey = newKey();
  readonly #contexts = new Map<string, SecureContext>();

  constructor() {
    this.certificate = this.#issue({
      subject: this.#name,
      key: this.#key,
      extensions: [
        extension('2.5.29.19', sequence(TRUE, integer(Buffer.of(0))), true),
        // keyCertSign
        extension('2.5.29.15', bitString(Buffer.of(0b100), 2), true),
      ],
    });
  }

  /** What a TLS server needs to be this host. */
  contextFor(host: Host): SecureContext {
    const name = nameOf(host);
    let context = this.#contexts.get(name);
    if (context === undefined) {
      // A tool may invent any number of names below a domain.
      if (this.#contexts.size >= MAX_CONTEXTS) this.#contexts.clear();
      context = createSecureContext({ ...this.identityOf(host), minVersion: 'TLSv1.2' });
      this.#contexts.set(name, context);
    }
    return context;
  }

  /** A key and a certificate of a host, in PEM. */
  identityOf(host: Host): { key: string; cert: string } {
    const key = this.#leafKey.privateKey.export({ type: 'pkcs8', format: 'pem' });
    return { key: key.toString(), cert: this.#leaf(host) };
  }

  #leaf(host: Host): string {
    const alternative =
      host.kind === 'name'
        ? implicit(2, Buffer.from(host.name))
        : implicit(7, Buffer.from(addressBytes(host.address)));
    return this.#issue({
      subject: nameFor('ACOR'),
      key: this.#leafKey,
      extensions: [
        extension('2.5.29.19', sequence(), true),
        // digitalSignature
        extension('2.5.29.15', bitString(Buffer.of(0b1000_0000), 7), true),
        extension('2.5.29.37', sequence(SERVER_AUTH)),
        extension('2.5.29.17', sequence(alternative)),
      ],
    });
  }

  #issue(of: { subject: Buffer; key: KeyPair; extensions: readonly Buffer[] }): string {
    const publicKey = of.key.publicKey.export({ type: 'spki', format: 'der' });
    const now = Date.now();
    const content = sequence(
      explicit(0, integer(Buffer.of(2))),
      // At most 20 bytes, and never negative.
      integer(Buffer.concat([Buffer.of(1), randomBytes(15)])),
      SHA256_WITH_ECDSA,
      this.#name,
      // A clock in a container or a sandbox may be behind.
      sequence(time(new Date(now - HOUR_MS)), time(new Date(now + LIFETIME_MS))),
      of.subject,
      publicKey,
      explicit(
        3,
        sequence(
          ...of.extensions,
          extension('2.5.29.14', octetString(keyId(of.key.publicKey))),
          extension('2.5.29.35', sequence(implicit(0, keyId(this.#key.publicKey)))),
        ),
      ),
    );
    const signature = sign('sha256', content, this.#key.privateKey);
    return pem(sequence(content, SHA256_WITH_ECDSA, bitString(signature)));
  }
}

interface KeyPair {
  publicKey: KeyObject;
  privateKey: KeyObject;
}

function newKey(): KeyPair {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
}

function nameFor(text: string): Buffer {
  return sequence(setOf(sequence(COMMON_NAME, utf8String(text))));
}

function extension(id: string, value: Uint8Array, isCritical = false): Buffer {
  return sequence(objectId(id), ...(isCritical ? [TRUE] : []), octetString(value));
}

/** RFC 7093: the first 160 bits of the SHA-256 of the key. */
function keyId(key: KeyObject): Buffer {
  const der = key.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest().subarray(0, 20);
}

function pem(der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
