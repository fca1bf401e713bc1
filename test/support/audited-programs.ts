import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './project.ts';

/** Where `npm run audits -- --install` puts the programs that a machine may lack. */
export const AUDITED = join(ROOT, 'node_modules', '.cache', 'audited-programs');
const APPS = join(ROOT, 'test', 'fixtures', 'audits', 'apps');

/** A real program whose audit is kept with a judgement of each finding. */
export interface AuditedProgram {
  name: string;
  /** What `acor compose audit` gets. */
  word: string;
  calls: readonly string[];
  /** How its version is asked for; a folder of a package that has it. */
  version: readonly string[] | { package: string };
  /** What `--install` installs. */
  from?: { debian: string } | { apt: string } | { npm: string };
  /** Why the suite leaves it to `npm run audits`. */
  notInSuite?: string;
}

const SLOW = 'it takes more than 20 s';

export const PROGRAMS: readonly AuditedProgram[] = [
  system('apt'),
  system('curl'),
  { ...system('docker'), notInSuite: SLOW },
  { ...system('ffmpeg'), version: ['-version'], from: { apt: 'ffmpeg' } },
  debian('gh', 'gh'),
  { ...system('git'), calls: ['version'] },
  { ...system('jq'), calls: ["-n '{a:1}'"] },
  { ...system('kubectl'), version: ['version', '--client'], notInSuite: SLOW },
  { ...system('npm'), notInSuite: SLOW },
  { ...system('openssl'), version: ['version'], notInSuite: SLOW },
  debian('rclone', 'rclone', ['version'], SLOW),
  debian('restic', 'restic', ['version']),
  debian('rg', 'ripgrep'),
  { ...system('sqlite3'), calls: [":memory: 'select 1'"] },
  { ...system('systemctl') },
  system('tar'),
  { ...npm('svgo', 'svgo@4.1.0'), word: join(AUDITED, 'node_modules', '.bin', 'svgo') },
  app('commander', join(APPS, 'commander-app.mjs'), join(ROOT, 'node_modules', 'commander')),
  app('oclif', join(APPS, 'oclif', 'oclif-app.js'), join(ROOT, 'node_modules', '@oclif', 'core')),
  {
    ...npm('incur', 'incur@0.3.15'),
    word: join(AUDITED, 'incur-app.mjs'),
    calls: ['list'],
  },
];

/** A program of the machine. */
function system(name: string): AuditedProgram {
  return { name, word: name, calls: [], version: ['--version'] };
}

function debian(
  name: string,
  pack: string,
  version: readonly string[] = ['--version'],
  notInSuite?: string,
): AuditedProgram {
  const here = join(AUDITED, 'debian', 'usr', 'bin', name);
  return {
    ...system(name),
    version,
    ...(notInSuite !== undefined && { notInSuite }),
    from: { debian: pack },
    // Looked up at each use: the script may have installed it.
    get word() {
      return existsSync(here) ? here : name;
    },
  };
}

function npm(name: string, pack: string): AuditedProgram {
  return { ...system(name), from: { npm: pack }, version: { package: join(AUDITED, 'node_modules', name) } };
}

function app(name: string, word: string, library: string): AuditedProgram {
  return { ...system(name), word, calls: ['items list'], version: { package: library } };
}

/** The version of a program that is here; undefined for one that is not. */
export function versionHere({ word, version }: AuditedProgram): string | undefined {
  if ('package' in version) {
    const file = join(version.package, 'package.json');
    if (!existsSync(file) || !existsSync(word)) return undefined;
    const { name, version: number } = JSON.parse(readFileSync(file, 'utf8'));
    return `${name} ${number}`;
  }
  const { stdout, status } = spawnSync(word, [...version], { encoding: 'utf8', timeout: 20_000 });
  return status === 0 ? stdout.split('\n')[0] : undefined;
}
