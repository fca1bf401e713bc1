import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { PLATFORMS } from '../../scripts/platforms.ts';
import { ROOT } from './project.ts';
import type { Published } from './registry.ts';

const BUN = join(ROOT, 'node_modules', '.bin', 'bun');

/** The platform of this machine. */
export const PLATFORM = PLATFORMS.find(
  ({ os, cpu, libc }) => os === process.platform && cpu === process.arch && libc !== 'musl',
)!;

/** Builds what a release has for this platform: the program, and the packages for npm with what they depend on. */
export function buildPackages(folder: string): {
  program: string;
  packages: Published[];
  tarballBytes: number;
} {
  const program = join(folder, 'acor');
  start('sh', join(ROOT, 'scripts', 'build-program.sh'), program);
  const stage = (...args: string[]) => start(BUN, join(ROOT, 'scripts', 'stage-package.ts'), ...args);
  stage(join(folder, 'package'));
  stage(join(folder, 'platform'), PLATFORM.id, program);
  const acor = packed(folder, 'package');
  const packages = [acor, packed(folder, 'platform'), packed(folder, join(ROOT, 'node_modules', 'zod'))];
  return { program, packages, tarballBytes: readFileSync(acor.tarball).length };
}

/** Makes a tarball as npm does, but does not compress the program: it has a hundred megabytes. */
export function packed(folder: string, source: string): Published {
  const path = source.startsWith('/') ? source : join(folder, source);
  const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  const tarball = join(folder, `${manifest.name.replace('/', '-')}.tgz`);
  const names = ['--transform', 's,^\\.,package,', '-C', path, '.'];
  const files = execFileSync('tar', ['-c', '-f', '-', ...names], { maxBuffer: 1 << 28 });
  writeFileSync(tarball, gzipSync(files, { level: source === 'platform' ? 0 : 9 }));
  return { manifest, tarball };
}

/** Under the mask of a user who lets no one else read the files of the checkout. */
function start(program: string, ...args: string[]): void {
  execFileSync('sh', ['-c', 'umask 077; exec "$@"', 'sh', program, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
