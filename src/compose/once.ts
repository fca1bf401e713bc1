import { closeSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomic, writeFully } from '../util/atomic-write.ts';
import { errorCode } from '../util/error-code.ts';
import { ownIdentity, type ProcessOwner, stateOfOwner } from '../util/process-owner.ts';
import { readRegular } from '../util/regular-file.ts';
import { AppError } from './app-error.ts';
import { digestOf } from './digest-of.ts';
import { notKept } from './state-folder.ts';

/** The file of a key: the call that began, and its answer once it has one. */
interface Kept {
  input: string;
  owner: ProcessOwner;
  answer?: unknown;
}

/**
 * Performs a call once for a key: a repeated call gets the answer of the first one. A call that failed is forgotten. Throws
 * E_CONFLICT for a key of another input and while the first call runs, and E_OUTCOME_UNKNOWN when it was killed.
 */
export async function once<T>(
  folder: string,
  { operation, key, input }: { operation: string; key: string; input: unknown },
  call: () => Promise<T>,
  isKept: (answer: T) => boolean,
): Promise<{ answer: T; isRepeated: boolean }> {
  const file = join(folder, `${digestOf([operation, key])}.json`);
  const own: Kept = { input: digestOf(input), owner: ownIdentity() };
  if (!begin(file, own)) return { answer: answerOf<T>(file, own, { operation, key }), isRepeated: true };
  try {
    const answer = await call();
    if (isKept(answer)) writeAtomic(file, JSON.stringify({ ...own, answer }), { mode: 0o600, durable: true });
    else rmSync(file, { force: true });
    return { answer, isRepeated: false };
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
}

/** Whether this call is the first one: only one process can create the file. */
function begin(file: string, kept: Kept): boolean {
  try {
    const fd = openSync(file, 'wx', 0o600);
    try {
      writeFully(fd, Buffer.from(JSON.stringify(kept)));
    } finally {
      closeSync(fd);
    }
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw notKept(file, error);
  }
}

function answerOf<T>(file: string, own: Kept, { operation, key }: { operation: string; key: string }): T {
  const kept = read(file);
  if (kept !== undefined && kept.input !== own.input)
    throw new AppError(
      'E_CONFLICT',
      `the key '${key}' belongs to a call of ${operation} with another input`,
      {
        hint: 'Use another key, or repeat the call as it was.',
      },
    );
  if (kept !== undefined && 'answer' in kept) return kept.answer as T;
  if (kept !== undefined && stateOfOwner(kept.owner) !== 'gone')
    throw new AppError('E_CONFLICT', `the call of ${operation} with the key '${key}' is not done yet`, {
      hint: 'Repeat the call later: it will get the answer.',
      retryable: true,
    });
  throw new AppError(
    'E_OUTCOME_UNKNOWN',
    `a call of ${operation} with the key '${key}' was killed, or its file is damaged`,
    {
      hint: `Find out what it did. To call it again, use another key, or remove ${file}`,
    },
  );
}

function read(file: string): Kept | undefined {
  try {
    const kept = JSON.parse(readRegular(file).toString());
    return typeof kept?.input === 'string' && typeof kept.owner?.host === 'string' ? kept : undefined;
  } catch {
    return undefined;
  }
}
