import fastStringWidth from 'fast-string-width';
import type { Screen } from './screen.ts';
import { type Look, styled } from './style.ts';

// Characters that a terminal does not draw. The joiner inside an emoji must stay: it combines several into one picture.
const INVISIBLE = /(?!\u200d)\p{Cf}/gu;

let segmenter: Intl.Segmenter | undefined;

/** The number of terminal columns of a text. */
export function displayWidth(text: string): number {
  // Composed, because the package counts each part of a decomposed Hangul syllable.
  return fastStringWidth(text.normalize().replace(INVISIBLE, ''));
}

/** Cuts a text to this many columns, with an ellipsis if it was longer. */
export function cutToWidth(text: string, width: number, ellipsis: string): string {
  if (displayWidth(text) <= width) return text;
  const room = width - displayWidth(ellipsis);
  let kept = '';
  let used = 0;
  for (const { segment, columns } of measured(text)) {
    used += columns;
    if (used > room) break;
    kept += segment;
  }
  return kept + ellipsis;
}

/** Pads a text with spaces to this many columns. */
export function padToWidth(text: string, width: number, side: 'left' | 'right' = 'right'): string {
  const spaces = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return side === 'right' ? text + spaces : spaces + text;
}

/** The characters of a text as a reader counts them (graphemes), with the columns of each. */
export function* measured(text: string): Generator<{ segment: string; columns: number }> {
  // Created at first use, because it takes milliseconds.
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  for (const { segment } of segmenter.segment(text)) yield { segment, columns: displayWidth(segment) };
}

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
