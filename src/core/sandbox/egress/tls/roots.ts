import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { rootCertificates } from 'node:tls';
import { AcorError } from '../../../../protocol/acor-error.ts';
import { errorMessage } from '../../../../util/error-code.ts';

/** Where the distributions of Linux keep the certificates that the system trusts. */
const SYSTEM_FILES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** The authorities that hosts are verified against, in PEM. */
export interface TrustedRoots {
  system: string;
  /** Those of `security.egress_authorities`. */
  further: string;
}

export function trustedRoots(files: readonly string[]): TrustedRoots {
  return { system: systemRoots(), further: files.map(readAuthorities).join('\n') };
}

/** Without a file of the system, the list that this runtime contains. */
function systemRoots(): string {
  for (const file of SYSTEM_FILES) {
    try {
      const found = readFileSync(file, 'latin1').match(CERTIFICATE);
      if (found !== null) return found.join('\n');
    } catch {
      // Another distribution.
    }
  }
  return rootCertificates.join('\n');
}

function readAuthorities(file: string): string {
  if (!isAbsolute(file)) throw unusable(file, 'the path is not absolute');
  try {
    const found = readFileSync(file, 'latin1').match(CERTIFICATE);
    if (found === null) throw new Error('it contains no certificate in PEM');
    for (const each of found) new X509Certificate(each);
    return found.join('\n');
  } catch (error) {
    throw unusable(file, errorMessage(error));
  }
}

function unusable(file: string, why: string): AcorError {
  return new AcorError('E_CONFIG_INVALID', `security.egress_authorities names ${file}: ${why}`, {
    hint: 'Name a file of certificates in PEM by its absolute path.',
  });
}
