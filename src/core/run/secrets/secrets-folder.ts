import { lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../../util/error-code.ts';
import { removePath } from '../../../util/walk-tree.ts';
import { storageError } from '../../store-files/storage-error.ts';
import type { RunWorkspace } from '../workspace.ts';

/** Writes a tool's secrets to files (contract §2) in a new folder: the tool of an earlier attempt could change the old one. */
export function fillSecrets(
  layout: RunWorkspace,
  secrets: readonly { name: string; bytes: Uint8Array }[],
): void {
  clearSecrets(layout);
  try {
    for (const { name, bytes } of secrets) {
      writeFileSync(join(layout.secrets, name), bytes, { mode: 0o600, flag: 'wx' });
    }
  } catch (error) {
    clearSecrets(layout);
    throw storageError(error, 'write the secrets of the tool', layout.secrets);
  }
}

/** Replaces the secrets folder by an empty one, whatever the tool has put in its place; a link is removed, not followed. */
export function clearSecrets({ secrets }: RunWorkspace): void {
  let failure: unknown;
  const attempt = (work: () => void) => {
    try {
      work();
    } catch (error) {
      failure ??= error;
    }
  };
  // One by one: a file that the tool made undeletable must not keep the others from being removed.
  for (const name of namesIn(secrets)) {
    attempt(() => removePath(join(secrets, name)));
  }
  attempt(() => removePath(secrets));
  attempt(() => mkdirSync(secrets, { mode: 0o700 }));
  if (failure !== undefined) throw storageError(failure, 'remove the secrets of the run', secrets);
}

function namesIn(folder: string): string[] {
  try {
    return lstatSync(folder).isDirectory() ? readdirSync(folder) : [];
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw storageError(error, 'list the secrets of the run', folder);
  }
}
