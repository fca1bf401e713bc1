import { createHash } from 'node:crypto';

const PEM = /-----BEGIN CERTIFICATE-----([\s\S]*?)-----END CERTIFICATE-----/g;

/** The password that Java's own store has. Java checks the digest only where a program gives a password. */
const PASSWORD = Buffer.from('changeit', 'utf16le').swap16();

/** Certificates as a key store of the type JKS: a head, an entry each, and a digest. */
export function javaKeyStore(certificates: string): Buffer {
  const entries = [...certificates.matchAll(PEM)].map(([, base64 = ''], index) => {
    const der = Buffer.from(base64, 'base64');
    const isCertificate = number(2);
    return Buffer.concat([
      isCertificate,
      text(`${index}`),
      Buffer.alloc(8),
      text('X.509'),
      number(der.length),
      der,
    ]);
  });
  const content = Buffer.concat([number(0xfeedfeed), number(2), number(entries.length), ...entries]);
  const digest = createHash('sha1').update(PASSWORD).update('Mighty Aphrodite').update(content).digest();
  return Buffer.concat([content, digest]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function text(ascii: string): Buffer {
  return Buffer.concat([Buffer.of(0, ascii.length), Buffer.from(ascii)]);
}
