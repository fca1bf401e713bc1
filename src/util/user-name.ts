import { userInfo } from 'node:os';

/** The name of the user whose process this is. */
export function userName(): string {
  try {
    const { username, uid } = userInfo();
    // Bun takes the name from USER alone.
    return username === 'unknown' ? `uid ${uid}` : username;
  } catch {
    // A container may run under a number that no user has.
    return 'unknown';
  }
}
