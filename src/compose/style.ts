import type { Screen } from './screen.ts';

/** The styles that renderings use; without colour they are plain text. */
export type Look = 'bold' | 'dim' | 'red' | 'green' | 'yellow';

const CODES: Readonly<Record<Look, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
};

/** Styles a text if the screen has colour. */
export function styled(text: string, look: Look, screen: Pick<Screen, 'color'>): string {
  if (!screen.color || text === '') return text;
  const [on, off] = CODES[look];
  return `\x1b[${on}m${text}\x1b[${off}m`;
}

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
