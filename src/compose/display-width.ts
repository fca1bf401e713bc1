// East Asian Wide and Fullwidth blocks, as a terminal draws them (Unicode TR11, rounded to blocks).
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x231a, 0x231b],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x1b2ff],
  [0x1f200, 0x1f2ff],
  [0x20000, 0x3fffd],
];

const ASCII = /^[\x20-\x7e]*$/;
const EMOJI = /\p{Emoji_Presentation}|\ufe0f/u;
const INVISIBLE = /^[\p{M}\p{Cf}\p{Cc}]+$/u;

let segmenter: Intl.Segmenter | undefined;

/** How many columns a text takes in a terminal. */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { columns } of measured(text)) width += columns;
  return width;
}

/** What a reader takes for one character each, with the columns that it takes. */
export function* measured(text: string): Generator<{ segment: string; columns: number }> {
  for (const { segment } of graphemes(text)) yield { segment, columns: graphemeWidth(segment) };
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

// Made at first use: it takes milliseconds.
function graphemes(text: string): Iterable<{ segment: string }> {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return segmenter.segment(text);
}

function graphemeWidth(grapheme: string): number {
  if (INVISIBLE.test(grapheme)) return 0;
  if (EMOJI.test(grapheme)) return 2;
  const point = grapheme.codePointAt(0)!;
  return WIDE.some(([first, last]) => point >= first && point <= last) ? 2 : 1;
}
