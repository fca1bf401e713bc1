/** A platform with a compiled program. */
export interface Platform {
  /** The name of its package (`@acor/<id>`) and of its file in a release (`acor-<id>`). */
  id: string;
  /** What npm compares with the machine. */
  os: string;
  cpu: string;
  libc?: 'glibc' | 'musl';
  /** The name of Bun's target. */
  target: string;
  file: string;
  /** Whether the test suite has run with this program. */
  isVerified: boolean;
}

export const PLATFORMS: readonly Platform[] = [
  { ...linux('x64', 'glibc'), isVerified: true },
  { ...linux('arm64', 'glibc'), isVerified: false },
  { ...linux('x64', 'musl'), isVerified: false },
  { ...linux('arm64', 'musl'), isVerified: false },
  { ...other('darwin', 'x64', 'acor'), isVerified: false },
  { ...other('darwin', 'arm64', 'acor'), isVerified: false },
  { ...other('win32', 'x64', 'acor.exe'), isVerified: false },
];

function linux(cpu: 'x64' | 'arm64', libc: 'glibc' | 'musl') {
  const suffix = libc === 'musl' ? '-musl' : '';
  return {
    id: `linux-${cpu}${suffix}`,
    os: 'linux',
    cpu,
    libc,
    target: `bun-linux-${cpu}${suffix}`,
    file: 'acor',
  };
}

function other(os: 'darwin' | 'win32', cpu: 'x64' | 'arm64', file: string) {
  return { id: `${os}-${cpu}`, os, cpu, target: `bun-${os === 'win32' ? 'windows' : os}-${cpu}`, file };
}
