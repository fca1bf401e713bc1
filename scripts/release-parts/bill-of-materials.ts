import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dependenciesOf } from '../run-dependencies.mjs';
import type { Digests } from './digests.ts';

/** The software bill of materials (CycloneDX 1.6): every package whose code is in a program or in the bundle. */
export function billOfMaterials(release: {
  root: string;
  version: string;
  committedAt: string;
  digests: Digests;
}) {
  const { root, version, committedAt, digests } = release;
  const packages = Object.entries(dependenciesOf(root)).filter(
    ([path]) => path !== '' && !path.includes('@oven/'),
  );
  const components = packages.map(([path, entry]) => {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const purl = `pkg:npm/${name.replace('@', '%40')}@${entry.version}`;
    return {
      type: 'library',
      'bom-ref': purl,
      name,
      version: entry.version,
      purl,
      ...(entry.integrity && { hashes: [hashOf(entry.integrity)] }),
      ...licenceOf(root, path),
    };
  });
  const own = `pkg:npm/acor@${version}`;
  const files = [...digests].map(([name, digest]) => `${digest} ${name}`).join('\n');
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(files)}`,
    version: 1,
    metadata: {
      timestamp: committedAt,
      component: { type: 'application', 'bom-ref': own, name: 'acor', version, purl: own },
    },
    components,
    dependencies: [{ ref: own, dependsOn: components.map((each) => each.purl) }],
  };
}

/** `sha512-<base64>` of npm. */
function hashOf(integrity: string) {
  const [algorithm, base64] = integrity.split('-', 2);
  const content = Buffer.from(base64!, 'base64').toString('hex');
  return { alg: algorithm!.replace('sha', 'SHA-'), content };
}

function licenceOf(root: string, path: string) {
  const { license } = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'));
  return typeof license === 'string' ? { licenses: [{ license: { id: license } }] } : {};
}

/** A UUID (version 8) from the content, so that the same release has the same one. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
