import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ACTION_ID } from '../../../protocol/v1/wire.ts';
import { writeAtomic } from '../../../util/atomic-write.ts';
import { errorCode } from '../../../util/error-code.ts';
import { readOwn } from '../../../util/regular-file.ts';
import { storageError } from '../../store-files/storage-error.ts';
import type { RunWorkspace } from '../workspace.ts';

/** Whether an action id, which a tool chooses, may be used as the name of an answer file. */
export function isSafeActionId(actionId: string): boolean {
  return ACTION_ID.test(actionId);
}

/** Writes an answer to ANSWERS_DIR for the tool (contract §4); `line` is the object that it also gets on standard input. */
export function writeAnswerFile(layout: RunWorkspace, actionId: string, line: string): void {
  writeAtomic(join(layout.answers, `${actionId}.json`), `${line}\n`, { durable: true, mode: 0o644 });
}

/** The answer to a question in ANSWERS_DIR; undefined when no file exists. */
export function readAnswerFile(layout: RunWorkspace, actionId: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(readOwn(join(layout.answers, `${actionId}.json`)).toString()).answer };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw storageError(error, 'read the answer', layout.answers);
  }
}

/** The action ids that have an answer file, from this attempt or an earlier one. */
export function answeredIds(layout: RunWorkspace): Set<string> {
  return new Set(jsonFiles(layout.answers).map((name) => name.slice(0, -'.json'.length)));
}

function jsonFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .sort();
  } catch {
    return [];
  }
}
