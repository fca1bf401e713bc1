import type { Screen } from './screen.ts';

/** A status as one sign. */
export type Mark = 'done' | 'failed' | 'stopped' | 'working' | 'waiting' | 'warning' | 'gutter';

const SIGNS: Readonly<Record<Mark, readonly [unicode: string, ascii: string]>> = {
  done: ['✓', '+'],
  failed: ['✗', 'x'],
  stopped: ['■', '-'],
  working: ['●', '*'],
  waiting: ['?', '?'],
  warning: ['!', '!'],
  gutter: ['│', '|'],
};

/** A sign of one column that the screen can show. */
export function mark(name: Mark, screen: Pick<Screen, 'unicode'>): string {
  return SIGNS[name][screen.unicode ? 0 : 1];
}
