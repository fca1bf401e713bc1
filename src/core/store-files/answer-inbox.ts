import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ANSWER_SOURCES, type AnswerSource } from '../../protocol/v1/wire.ts';
import { writeAtomic } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
import { removeIfPossible } from '../../util/remove-if-possible.ts';
import type { RunLayout } from './layout.ts';
import { storageError } from './storage-error.ts';

/** An answer that somebody put into a run's control folder, for its supervisor to take. */
export interface PostedAnswer {
  answer_id: string;
  action_id: string;
  answer: unknown;
  by: string;
  source: AnswerSource;
  reason?: string;
}

/** Answers lie in the control folder under names that begin so. */
export const ANSWER_PREFIX = 'answer-';

/** File names of answers are made from ids that a tool chose. */
const SAFE_ID = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$/;

/** Whether an action id may become the name of an answer file. */
export function isSafeActionId(actionId: string): boolean {
  return SAFE_ID.test(actionId);
}

/** Puts an answer where the run's supervisor finds it. */
export function postAnswer(layout: RunLayout, posted: PostedAnswer): void {
  try {
    writeAtomic(join(layout.control, `${ANSWER_PREFIX}${posted.answer_id}.json`), JSON.stringify(posted));
  } catch (error) {
    throw storageError(error, 'hand in the answer', layout.control);
  }
}

/** Takes an answer away, so that it is taken once; undefined for what is none. */
export function readPostedAnswer(path: string): PostedAnswer | undefined {
  try {
    const posted = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof posted?.answer_id !== 'string' || typeof posted.action_id !== 'string') return undefined;
    return { ...posted, source: ANSWER_SOURCES.includes(posted.source) ? posted.source : 'command' };
  } catch {
    return undefined;
  } finally {
    removeIfPossible(path);
  }
}

/** Gives an answer to the tool as a file (contract §4); `line` is the same object as on its standard input. */
export function fileAnswer(layout: RunLayout, actionId: string, line: string): void {
  writeAtomic(join(layout.answers, `${actionId}.json`), `${line}\n`, { durable: true, mode: 0o644 });
}

/** The answer that is on file for a question; undefined when there is none. */
export function filedAnswer(layout: RunLayout, actionId: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(readFileSync(join(layout.answers, `${actionId}.json`), 'utf8')).answer };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw storageError(error, 'read the answer', layout.answers);
  }
}

/** The action ids that have an answer on file, from this attempt or an earlier one. */
export function answeredIds(layout: RunLayout): Set<string> {
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
