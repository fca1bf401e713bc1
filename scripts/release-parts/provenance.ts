import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Digests } from './digests.ts';

/** How the files were made (in-toto Statement, SLSA Provenance 1). It is not signed: a signer of the project adds that. */
export function provenance(release: {
  version: string;
  commit: string;
  committedAt: string;
  root: string;
  digests: Digests;
}) {
  const { version, commit, committedAt, root, digests } = release;
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...digests].map(([name, sha256]) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:acor:release:v1',
        externalParameters: { version, command: 'scripts/release' },
        resolvedDependencies: [
          { uri: 'urn:acor:source', digest: { gitCommit: commit } },
          { uri: 'urn:acor:package-lock.json', digest: { sha256: lock } },
          { uri: `pkg:npm/bun@${process.versions['bun']}` },
        ],
      },
      runDetails: { builder: { id: 'urn:acor:scripts/release' }, metadata: { startedOn: committedAt } },
    },
  };
}
