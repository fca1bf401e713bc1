// Writes the packages for npm as folders, ready for `npm pack`:
//   bun scripts/stage-package.ts FOLDER              the package `acor`
//   bun scripts/stage-package.ts FOLDER ID PROGRAM   the package of a platform, with its compiled program
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  linkSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { PLATFORMS, type Platform } from './platforms.ts';
import { thirdPartyLicenses } from './third-party-licenses.ts';
import { filesIn, writeOwnFiles } from './write-own-files.ts';

const root = dirname(import.meta.dirname);
/** The two settings keep those of a strange folder from Bun, when a program in Bun uses the library. */
const COPIED = ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'docs', 'bunfig.toml', 'tsconfig.json'];

/** Everything that is bundled is left out of the dependencies; a user of the library shares `zod` with it. */
const SHARED = 'zod';

/** Writes the package `acor`, with JavaScript for every platform. */
export function stagePackage(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeOwnFiles(folder);
  for (const name of COPIED) cpSync(join(root, name), join(folder, name), { recursive: true });
  start('sh', 'scripts/build-lib.sh', join(folder, 'dist', 'lib'));
  start(process.execPath, '--no-env-file', 'scripts/write-types.ts', join(folder, 'dist', 'types'));
  copyFileSync(join(root, 'acor'), join(folder, 'acor'));
  chmodSync(join(folder, 'acor'), 0o755);
  copyFileSync(join(root, 'src', 'host', 'call-host.pl'), join(folder, 'dist', 'call-host.pl'));
  writeManifest(folder, publishedManifest());
  settleModes(folder);
}

/** Writes the package of a platform, which npm installs where it fits. */
export function stagePlatform(folder: string, platform: Platform, program: string): void {
  const { id, os, cpu, libc, file } = platform;
  const { version, license } = ownManifest();
  mkdirSync(folder, { recursive: true });
  // The copy of a hundred megabytes takes longer than the rest.
  linkSync(program, join(folder, file));
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES'), thirdPartyLicenses(root));
  writeManifest(folder, {
    name: `@acor/${id}`,
    version,
    description: `The compiled program of ACOR for ${id}.`,
    license,
    os: [os],
    cpu: [cpu],
    ...(libc !== undefined && { libc: [libc] }),
    files: [file, 'THIRD-PARTY-LICENSES'],
  });
  settleModes(folder);
}

/** The mask of the user who makes a release must not be seen in it. */
export function settleModes(folder: string): void {
  for (const path of filesIn(folder)) {
    const file = join(folder, path);
    chmodSync(file, statSync(file).mode & 0o100 ? 0o755 : 0o644);
  }
}

function start(program: string, ...args: string[]): void {
  execFileSync(program, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
}

function publishedManifest(): Record<string, unknown> {
  const { devDependencies, allowScripts, scripts, files, ...kept } = ownManifest();
  const exports = Object.fromEntries(
    Object.entries(kept.exports).map(([name, target]) => {
      if (typeof target === 'string') return [name, target];
      // There are no sources in the package.
      const { bun, ...others } = target;
      return [name, others];
    }),
  );
  return {
    ...kept,
    exports,
    dependencies: { [SHARED]: kept.dependencies[SHARED] },
    optionalDependencies: Object.fromEntries(PLATFORMS.map(({ id }) => [`@acor/${id}`, kept.version])),
  };
}

interface Manifest {
  version: string;
  license: string;
  exports: Record<string, string | Record<string, string>>;
  dependencies: Record<string, string>;
  [key: string]: unknown;
}

function ownManifest(): Manifest {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
}

export function writeManifest(folder: string, manifest: object): void {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

if (import.meta.main) {
  const [folder, id, program] = process.argv.slice(2);
  if (folder === undefined) throw new Error('usage: stage-package.ts FOLDER [ID PROGRAM]');
  if (id === undefined) stagePackage(folder);
  else stagePlatform(folder, PLATFORMS.find((each) => each.id === id)!, program!);
}
