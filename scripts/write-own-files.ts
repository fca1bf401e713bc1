// Writes the files of ACOR that a package or a compiled program needs beside its code, to a new folder:
//   bun scripts/write-own-files.ts FOLDER
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { thirdPartyLicenses } from './third-party-licenses.ts';

/** Folders are copied with all files in them, but tests. */
export const OWN_FILES = ['sdk', 'templates', 'schemas', 'man', 'LICENSE'];
const NO_SDK = ['sdk/contract', 'sdk/bash/fixtures', 'sdk/python/fixtures'];

const root = dirname(import.meta.dirname);

/** Copies the files; the SDK for TypeScript then uses the bundle, because there are no sources. */
export function writeOwnFiles(folder: string): void {
  for (const name of OWN_FILES) {
    cpSync(join(root, name), join(folder, name), {
      recursive: true,
      filter: (path) =>
        !NO_SDK.some((each) => path === join(root, each)) && !/\.test\.ts$|__pycache__/.test(path),
    });
  }
  const sdk = join(folder, 'sdk', 'node', 'acor', 'tool.ts');
  writeFileSync(sdk, readFileSync(sdk, 'utf8').replace('src/tool/index.ts', 'dist/lib/tool/index.js'));
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES'), thirdPartyLicenses(root));
}

/** The relative paths of all files of a folder, sorted. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(folder, path)).isFile())
    .map((path) => path.replaceAll('\\', '/'))
    .sort();
}

/** One digest for the names and bytes of all files of a folder. */
function digestOf(folder: string): string {
  const hash = createHash('sha256');
  for (const path of filesIn(folder)) {
    const bytes = readFileSync(join(folder, path));
    hash.update(`${path}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex').slice(0, 32);
}

if (import.meta.main) {
  const folder = process.argv[2]!;
  mkdirSync(folder, { recursive: true });
  writeOwnFiles(folder);
  // Names the folder to which a compiled program extracts the files.
  writeFileSync(join(folder, 'digest'), `${digestOf(folder)}\n`);
}
