import { type Mark, mark } from '../../compose/marks.ts';
import type { Screen } from '../../compose/screen.ts';
import type { Look } from '../../compose/style.ts';

const WORDS: Readonly<Record<string, readonly [Mark, string, Look]>> = {
  queued: ['waiting', 'queued', 'dim'],
  running: ['working', 'running', 'bold'],
  waiting_ai: ['waiting', 'waiting', 'yellow'],
  completed: ['done', 'completed', 'green'],
  failed: ['failed', 'failed', 'red'],
  cancelled: ['stopped', 'cancelled', 'yellow'],
};

/** The state of a run as a sign and a word, and the style of both. */
export function stateWords(state: string, screen: Screen): { text: string; look: Look } {
  const [sign, word, look] = WORDS[state] ?? ['waiting', state, 'dim'];
  return { text: `${mark(sign, screen)} ${word}`, look };
}
