import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { SEE_HEALTH } from '../../../protocol/next-steps.ts';
import { shellCommand } from '../../../util/shell-words.ts';
import type { RunUser } from '../sandbox.ts';
import { installCommand } from '../trusted-program.ts';

/**
 * Why a tool cannot start there in a sandbox without mounts; undefined where its user may enter the folder and all above it. Null is the user of
 * this process.
 */
export function notEntered(start: string, folder: string, user: RunUser | null): AcorError | undefined {
  const closed = closedAbove([folder], user);
  if (closed === undefined) return undefined;
  const who = user === null ? 'this user' : 'its Unix user, which is not root,';
  return new AcorError(
    'E_PERMISSION',
    `the tool cannot start ${start}: ${who} may not enter ${closed.names}`,
    {
      hint: `Let it enter: ${closed.fix}`,
      next: [SEE_HEALTH],
    },
  );
}

/** Which of some folders and those above them a user may not enter, and the fix. */
export function closedAbove(
  folders: readonly string[],
  user: RunUser | null,
): { names: string; fix: string } | undefined {
  const closed = [...new Set(folders.flatMap((folder) => closedFolders(folder, user)))];
  if (closed.length === 0) return undefined;
  return {
    names: closed.join(' and '),
    fix: `${shellCommand(['chmod', user === null ? 'u+x' : 'o+x', ...closed])}. Or install bubblewrap, which needs no access to the folders above: ${installCommand('bubblewrap')}`,
  };
}

/** Which of a folder and those above it the user may not enter, the outermost first. */
function closedFolders(folder: string, user: RunUser | null): string[] {
  const parent = dirname(folder);
  const above = parent === folder ? [] : closedFolders(parent, user);
  // This user sees nothing below a closed folder.
  const isHidden = user === null && above.length > 0;
  return isHidden || mayEnter(folder, user) ? above : [...above, folder];
}

function mayEnter(folder: string, user: RunUser | null): boolean {
  try {
    if (user !== null) return hasBitFor(user, statSync(folder));
    accessSync(folder, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Whether the mode of a folder lets a user without capabilities enter. */
function hasBitFor({ uid, gid }: RunUser, folder: Stats): boolean {
  const bit = folder.uid === uid ? 0o100 : folder.gid === gid ? 0o010 : 0o001;
  return (folder.mode & bit) !== 0;
}
