import fastStringWidth from 'fast-string-width';

// Characters that a terminal does not draw. The joiner inside an emoji must stay: it makes one picture of several.
const INVISIBLE = /(?!\u200d)\p{Cf}/gu;

let segmenter: Intl.Segmenter | undefined;

/** How many columns a text takes in a terminal. */
export function displayWidth(text: string): number {
  // Composed, because the package counts each part of a decomposed Hangul syllable.
  return fastStringWidth(text.normalize().replace(INVISIBLE, ''));
}

/** The text, cut to so many columns with an ellipsis where it was longer. */
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

/** The text, filled with spaces to so many columns. */
export function padToWidth(text: string, width: number, side: 'left' | 'right' = 'right'): string {
  const spaces = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return side === 'right' ? text + spaces : spaces + text;
}

/** The characters of a text as a reader counts them (graphemes), with the columns that each takes. */
export function* measured(text: string): Generator<{ segment: string; columns: number }> {
  // Made at first use: it takes milliseconds.
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  for (const { segment } of segmenter.segment(text)) yield { segment, columns: displayWidth(segment) };
}
