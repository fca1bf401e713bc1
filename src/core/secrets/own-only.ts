import type { Stats } from 'node:fs';
import { AcorError } from '../../protocol/acor-error.ts';
import { shellCommand } from '../../util/shell-words.ts';

/** Throws E_PERMISSION when another user can access a file or folder; `wanted` is the required mode. */
export function checkOwnOnly(path: string, stats: Stats, wanted: string): void {
  if (process.getuid !== undefined && stats.uid !== process.getuid()) {
    throw new AcorError('E_PERMISSION', `${path} belongs to another user (${stats.uid})`, {
      hint: 'It must belong to the user who runs ACOR: remove it, and store the secret again.',
      next: [{ command: shellCommand(['rm', '-r', path]), why: 'Remove it.' }],
    });
  }
  if ((stats.mode & 0o077) === 0) return;
  const command = shellCommand(['chmod', wanted, path]);
  throw new AcorError('E_PERMISSION', `other users can access ${path} (mode ${modeOf(stats)})`, {
    hint: `Remove their access, and change the secret if they may have read it: ${command}`,
    next: [{ command, why: 'Remove the access of other users.' }],
  });
}

/** The mode in the notation of `chmod`. */
export function modeOf({ mode }: Stats): string {
  return (mode & 0o777).toString(8).padStart(3, '0');
}
