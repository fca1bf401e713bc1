import { existsSync, linkSync, mkdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { writeAtomic } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
import { removeIfPossible } from '../../util/files.ts';
import { dataFolderFix } from '../../util/home-folder.ts';
import { newSpanId, randomBytes } from '../../util/ids.ts';
import { PrivateFiles } from '../../util/private-files.ts';
import { areEqualDigests, sha256Code } from '../../util/sha256.ts';
import { userFolder } from './find.ts';

/**
 * Some records of a run let ACOR change files outside of the store: to which owner files return, which changes to make. A
 * store can come with a cloned project, so these records carry a code that only this user's ACOR can make, for the
 * place where it has written them.
 */

const NAME = 'records.json';
const CODE = /^(\{.*),"code":"([0-9a-f]{64})"\}\n?$/s;

/** A record as it is stored at a path. With `lasts`, other processes must be able to check it: throws E_STORAGE if not. */
export function signedRecord(path: string, record: object, { lasts }: { lasts: boolean }): string {
  const text = JSON.stringify(record);
  return `${text.slice(0, -1)},"code":"${codeOf(keyFor(lasts), path, text).toString('hex')}"}\n`;
}

/** Whether this user's ACOR has stored this text at this path. */
export function isOwnRecord(path: string, text: string): boolean {
  const [, start, code] = CODE.exec(text) ?? [];
  const key = known ?? storedKey();
  if (start === undefined || key === undefined) return false;
  return areEqualDigests(codeOf(key, path, `${start}}`), Buffer.from(code!, 'hex'));
}

/** A record that was not stored here by this user's ACOR is not used. */
export function foreignRecord(path: string, what: string): AcorError {
  return new AcorError('E_INTEGRITY', `${path} was not written by your ACOR at this place, so ${what}`, {
    hint: 'It came with the project, was changed, or belongs to another user or to a folder that was moved. Look at it, and remove the run.',
    details: { path },
  });
}

let known: Buffer | undefined;

function keyFor(lasts: boolean): Buffer {
  if (known !== undefined) return known;
  const stored = storedKey() ?? madeKey();
  if (stored === undefined && lasts) {
    throw new AcorError('E_STORAGE', `the key for records cannot be stored in ${keyFolder()}`, {
      hint: existsSync(keyFolder())
        ? `Let your user alone write there: chmod 700 '${keyFolder()}'`
        : dataFolderFix(keyFolder()),
    });
  }
  // Without a stored key only this process can check its records.
  known = stored ?? Buffer.from(randomBytes(32));
  return known;
}

function codeOf(key: Buffer, path: string, text: string): Buffer {
  const place = join(realpathSync(dirname(path)), basename(path));
  return sha256Code(key, `${place}\0${text}`);
}

function keyFolder(): string {
  return join(userFolder('XDG_DATA_HOME', join('.local', 'share'), process.env), 'keys');
}

function storedKey(): Buffer | undefined {
  const files = new PrivateFiles<{ key: string }>(keyFolder(), ({ key }) => /^[0-9a-f]{64}$/.test(key));
  const found = files.read(NAME);
  return found && Buffer.from(found.key, 'hex');
}

/** Makes the key. Of several processes, the first makes it. */
function madeKey(): Buffer | undefined {
  const folder = keyFolder();
  const temporary = join(folder, `.${newSpanId()}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const key = Buffer.from(randomBytes(32)).toString('hex');
    writeAtomic(temporary, `${JSON.stringify({ key })}\n`, { durable: true, mode: 0o600 });
    linkSync(temporary, join(folder, NAME));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') return undefined;
  } finally {
    removeIfPossible(temporary);
  }
  return storedKey();
}
