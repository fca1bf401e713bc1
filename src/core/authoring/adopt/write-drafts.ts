import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { errorCode } from '../../../util/error-code.ts';

/**
 * Writes new manifests and never overwrites a file. Throws E_USAGE, before it writes anything, when one of the files
 * exists.
 */
export function writeDrafts(drafts: readonly { file: string; manifest: string }[]): void {
  const there = drafts.map(({ file }) => file).filter((file) => existsSync(file));
  if (there.length > 0) throw alreadyThere(there);
  for (const { file, manifest } of drafts) {
    mkdirSync(dirname(file), { recursive: true });
    try {
      writeFileSync(file, manifest, { flag: 'wx' });
    } catch (error) {
      throw errorCode(error) === 'EEXIST' ? alreadyThere([file]) : error;
    }
  }
}

function alreadyThere(files: readonly string[]): AcorError {
  return new AcorError('E_USAGE', `the manifest already exists: ${files.join(', ')}`, {
    hint: 'ACOR overwrites nothing. Use a different --name or --output, or remove the file first.',
    details: { files },
  });
}
