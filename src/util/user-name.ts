import { readFileSync } from 'node:fs';

/** The name of this process's user, found by uid: environment variables cannot be trusted for this. */
export function userName(): string {
  const uid = process.getuid?.();
  return uid === undefined ? (process.env['USERNAME'] ?? 'unknown') : nameOfUser(uid);
}

/** The name of a user, or its number. */
export function nameOfUser(uid: number): string {
  try {
    const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
    const name = lines.map((line) => line.split(':')).find((fields) => fields[2] === String(uid))?.[0];
    return name || `uid ${uid}`;
  } catch {
    return `uid ${uid}`;
  }
}
