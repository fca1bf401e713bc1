import { readFileSync } from 'node:fs';

/** The name of the user that this process runs as, by its id: what the environment says of it is anybody's word. */
export function userName(): string {
  const uid = process.getuid?.();
  if (uid === undefined) return process.env['USERNAME'] ?? 'unknown';
  try {
    const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
    const name = lines.map((line) => line.split(':')).find((fields) => fields[2] === String(uid))?.[0];
    return name || `uid ${uid}`;
  } catch {
    return `uid ${uid}`;
  }
}
