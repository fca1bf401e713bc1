import { type FSWatcher, mkdirSync, readdirSync, readFileSync, rmSync, watch } from 'node:fs';
import { join } from 'node:path';
import { writeAtomic } from '../../util/atomic-write.ts';
import type { RunLayout } from './layout.ts';
import { storageError } from './storage-error.ts';

/** An answer that somebody put into a run's box, for its supervisor to take. */
export interface PostedAnswer {
  answer_id: string;
  action_id: string;
  answer: unknown;
  by: string;
  reason?: string;
}

const POLL_MS = 250;
/** File names of answers are made from ids that a tool chose. */
const SAFE_ID = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$/;

/** Whether an action id may become the name of an answer file. */
export function isSafeActionId(actionId: string): boolean {
  return SAFE_ID.test(actionId);
}

/** Puts an answer into the box of a run. */
export function postAnswer(layout: RunLayout, posted: PostedAnswer): void {
  try {
    mkdirSync(layout.inbox, { recursive: true });
    writeAtomic(join(layout.inbox, `${posted.answer_id}.json`), JSON.stringify(posted));
  } catch (error) {
    throw storageError(error, 'hand in the answer', layout.inbox);
  }
}

/** Hands over each answer that is put into the box, once; returns what ends the watch. */
export function watchAnswers(layout: RunLayout, take: (posted: PostedAnswer) => void): () => void {
  const look = () => {
    for (const posted of emptyBox(layout)) take(posted);
  };
  let watcher: FSWatcher | undefined;
  try {
    mkdirSync(layout.inbox, { recursive: true });
    watcher = watch(layout.inbox, look);
  } catch {
    // Without a watch the timer alone finds them.
  }
  const timer = setInterval(look, POLL_MS);
  look();
  return () => {
    watcher?.close();
    clearInterval(timer);
  };
}

/** Gives an answer to the tool as a file (contract §4); `line` is the same object as on its standard input. */
export function fileAnswer(layout: RunLayout, actionId: string, line: string): void {
  writeAtomic(join(layout.answers, `${actionId}.json`), `${line}\n`, { durable: true });
}

/** The action ids that have an answer on file, from this attempt or an earlier one. */
export function answeredIds(layout: RunLayout): Set<string> {
  return new Set(jsonFiles(layout.answers).map((name) => name.slice(0, -'.json'.length)));
}

function emptyBox(layout: RunLayout): PostedAnswer[] {
  return jsonFiles(layout.inbox).flatMap((name) => {
    const path = join(layout.inbox, name);
    try {
      const posted = JSON.parse(readFileSync(path, 'utf8'));
      return typeof posted?.answer_id === 'string' && typeof posted.action_id === 'string' ? [posted] : [];
    } catch {
      return [];
    } finally {
      rmSync(path, { force: true });
    }
  });
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
