import { cutToWidth, displayWidth } from './display-width.ts';
import type { Screen } from './screen.ts';
import { type Look, styled } from './style.ts';

/** A part of a line, with its style. */
export type Part = string | readonly [text: string, look: Look];

/**
 * Joins parts to one line of at most `width` columns: the part that does not fit is cut, and later ones are omitted.
 */
export function fitParts(parts: readonly Part[], width: number, screen: Screen): string {
  let line = '';
  let left = width;
  for (const part of parts) {
    if (left <= 0) break;
    const [text, look] = typeof part === 'string' ? [part] : part;
    const cut = cutToWidth(text, left, screen.unicode ? '…' : left > 3 ? '...' : '');
    line += look === undefined ? cut : styled(cut, look, screen);
    left -= displayWidth(cut);
    if (cut !== text) break;
  }
  return line;
}
