import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A package in the registry. */
export interface Published {
  manifest: { name: string; version: string; [key: string]: unknown };
  tarball: string;
}

/** A registry for npm on this machine, with these packages and no others. */
export async function startRegistry(packages: readonly Published[]) {
  const digests = new Map(packages.map(({ tarball }) => [tarball, digestOf(tarball)]));
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url!.slice(1));
    const found = packages.find(({ manifest: { name } }) => path === name || path === `${name}.tgz`);
    if (found === undefined) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not found"}');
      return;
    }
    if (path.endsWith('.tgz')) {
      response.end(readFileSync(found.tarball));
      return;
    }
    const { name, version } = found.manifest;
    const dist = { tarball: `${url()}${name}.tgz`, integrity: digests.get(found.tarball) };
    const versions = { [version]: { ...found.manifest, dist } };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions }));
  });
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: url(), [Symbol.dispose]: () => void server.close() };
}

function digestOf(file: string): string {
  return `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
}
