import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { PLATFORMS, type Platform } from './platforms.ts';
import { billOfMaterials } from './release-parts/bill-of-materials.ts';
import { type Digests, digestsOf } from './release-parts/digests.ts';
import { homebrewFormula } from './release-parts/homebrew-formula.ts';
import { provenance } from './release-parts/provenance.ts';
import { releaseNotes } from './release-parts/release-notes.ts';
import { stageCompose } from './stage-compose.ts';
import { stagePackage, stagePlatform } from './stage-package.ts';
import { thirdPartyLicenses } from './third-party-licenses.ts';

const root = dirname(import.meta.dirname);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { platforms: { type: 'string' }, url: { type: 'string' } },
});
const [target] = positionals;
if (target === undefined) fail('usage: scripts/release FOLDER [--platforms ID,…] [--url URL]');
const folder = resolve(target);
const version: string = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
const commit = git('rev-parse', 'HEAD');
const committedAt = new Date(Number(git('log', '-1', '--format=%ct')) * 1000).toISOString();

if (existsSync(folder)) fail(`${folder} exists: name a new folder`);
mkdirSync(folder);
const work = mkdtempSync(join(tmpdir(), 'acor-release-'));
try {
  const built = wantedPlatforms().filter(compile);
  console.error('release: packing');
  stagePackage(join(work, 'acor'));
  pack(join(work, 'acor'));
  await stageCompose(join(work, 'compose'));
  pack(join(work, 'compose'));
  for (const platform of built) {
    const staged = join(work, platform.id);
    stagePlatform(staged, platform, join(folder, programName(platform)));
    pack(staged);
  }
  writeTexts(built);
  const digests = digestsOf(folder);
  if (values.url !== undefined)
    write('homebrew/acor.rb', homebrewFormula({ version, url: values.url, digests }));
  else console.error('release: no Homebrew formula, because it needs --url');
  write('sbom.cdx.json', json(billOfMaterials({ root, version, committedAt, digests })));
  write('provenance.intoto.json', json(provenance({ version, commit, committedAt, root, digests })));
  write('SHA256SUMS', sums(digestsOf(folder)));
} finally {
  rmSync(work, { recursive: true, force: true });
}

function wantedPlatforms(): readonly Platform[] {
  if (values.platforms === undefined) return PLATFORMS;
  return values.platforms.split(',').map((id) => {
    const found = PLATFORMS.find((each) => each.id === id);
    return found ?? fail(`no platform '${id}'; there are: ${PLATFORMS.map((each) => each.id).join(', ')}`);
  });
}

/** Compiles the program of a platform. Bun downloads its own program for another platform the first time. */
function compile(platform: Platform): boolean {
  console.error(`release: compiling for ${platform.id}`);
  const program = join(folder, programName(platform));
  const args = ['scripts/build-program.sh', program, '', `--target=${platform.target}`];
  const { status } = spawnSync('sh', args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status === 0) return true;
  rmSync(program, { force: true });
  console.error(
    `release: no program for ${platform.id}: see above; compiling it needs a download of Bun's program for ${platform.target}`,
  );
  return false;
}

function pack(staged: string): void {
  const args = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder, staged];
  execFileSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** The files that are not programs. */
function writeTexts(built: readonly Platform[]): void {
  write('NOTES.md', releaseNotes(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version, built));
  write('THIRD-PARTY-LICENSES', thirdPartyLicenses(root));
  mkdirSync(join(folder, 'man'));
  copyFileSync(join(root, 'man', 'acor.1'), join(folder, 'man', 'acor.1'));
  const own = join(root, 'src', 'cli', 'main.ts');
  for (const shell of ['bash', 'zsh', 'fish'])
    write(
      `completions/acor.${shell}`,
      execFileSync(process.execPath, ['--no-env-file', own, 'complete', shell]),
    );
  mkdirSync(join(folder, 'container'));
  copyFileSync(join(root, 'scripts', 'release-parts', 'Dockerfile'), join(folder, 'container', 'Dockerfile'));
  // The names of the processors are those of container engines.
  for (const [cpu, name] of Object.entries({ x64: 'amd64', arm64: 'arm64' })) {
    const platform = built.find(({ id }) => id === `linux-${cpu}`);
    if (platform !== undefined)
      linkSync(join(folder, programName(platform)), join(folder, 'container', `acor-${name}`));
  }
}

function programName({ id, file }: Platform): string {
  return `acor-${id}${file.slice('acor'.length)}`;
}

function sums(digests: Digests): string {
  return [...digests].map(([name, digest]) => `${digest}  ${name}\n`).join('');
}

function write(name: string, content: string | Buffer): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), content);
  chmodSync(join(folder, name), 0o644);
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function git(...args: string[]): string {
  return execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' }).trim();
}

function fail(why: string): never {
  console.error(`release: ${why}`);
  process.exit(1);
}
