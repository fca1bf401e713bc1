import fastStringWidth from 'fast-string-width';

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
