import { existsSync } from 'node:fs';

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
