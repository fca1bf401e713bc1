import { existsSync, statSync } from 'node:fs';
import { AcorError } from '../../protocol/acor-error.ts';
import { SEE_HEALTH } from '../../protocol/next-steps.ts';

const FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin'];

const SETUID = 0o4000;
const WRITABLE_BY_OTHERS = 0o022;

/** A program that the sandbox relies on. */
interface TrustedProgram {
  path: string;
  /** Changes when the program changes. */
  identity: string;
}

/** The path of a program that was found before. */
export function trustedPath(name: string): string {
  const found = trustedProgram(name);
  if (typeof found === 'string') {
    throw new AcorError('E_SANDBOX_UNAVAILABLE', `${name} is no longer trusted: ${found}`, {
      hint: 'Check what this machine offers.',
      next: [SEE_HEALTH],
    });
  }
  return found.path;
}

/** Why a program is not trusted: it is missing, or a user other than root could have changed it. */
export type UntrustedReason = 'missing' | 'setuid' | 'writable';

/** Finds a program in a folder that only root can write, whatever the PATH is. */
export function trustedProgram(name: string): TrustedProgram | UntrustedReason {
  for (const folder of FOLDERS) {
    const path = `${folder}/${name}`;
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats?.isFile()) continue;
    if (stats.mode & SETUID) return 'setuid';
    if (stats.uid !== 0 || stats.mode & WRITABLE_BY_OTHERS) return 'writable';
    return { path, identity: `${path} ${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}` };
  }
  return 'missing';
}

/** A file that identifies a family of systems, and its package manager's install command. */
const MANAGERS: readonly [file: string, install: string][] = [
  ['/etc/debian_version', 'apt-get install -y'],
  ['/etc/alpine-release', 'apk add'],
  ['/etc/arch-release', 'pacman -S --noconfirm'],
  ['/etc/redhat-release', 'dnf install -y'],
  ['/etc/SuSE-release', 'zypper install -y'],
];

/** The command that installs a package here; `names` contains the package names that differ between families. */
export function installCommand(name: string, names: Readonly<Record<string, string>> = {}): string {
  const install = MANAGERS.find(([file]) => existsSync(file))?.[1];
  if (install === undefined) return `Install ${name} with the package manager of this system.`;
  return `${install} ${names[install.split(' ')[0]!] ?? name}`;
}
