import { newSha256 } from '../../../util/sha256.ts';

/** Separators between a step and its parts in a task id. They are percent-encoded in a step's own name. */
const SEPARATORS = /[%[\]./:]/g;
const MAX_ACTION_ID_CHARS = 100;

/** The id of a step's task: the encoded name of the step. */
export function taskIdOf(step: string): string {
  return step.replace(SEPARATORS, (char) => `%${char.charCodeAt(0).toString(16)}`);
}

/** The step of a task: `load` for `load[3]` and for `load.2`. */
export function stepOf(taskId: string): string {
  return decodeURIComponent(taskId.split(/[.[]/, 1)[0]!.replace(/%(?!(25|5b|5d|2e|2f|3a))/g, '%25'));
}

/** The id of a task's question. It becomes a file name. A task that is reset asks under a new id. */
export function actionIdOf(taskId: string, word: string | undefined, asked: number): string {
  const readable = taskId
    .replaceAll('[', '.')
    .replaceAll(']', '')
    .replace(/[^A-Za-z0-9_.-]/g, '_')
    .slice(0, MAX_ACTION_ID_CHARS);
  const isExact =
    taskId.replaceAll('[', '.').replaceAll(']', '') === readable && /^[A-Za-z0-9_-]/.test(readable);
  const base = isExact ? readable : `q-${readable}-${newSha256().update(taskId).digest('hex').slice(0, 8)}`;
  const parts = [base, ...(word === undefined ? [] : [word]), ...(asked > 1 ? [`again-${asked}`] : [])];
  return parts.join('.');
}
