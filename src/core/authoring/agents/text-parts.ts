import { findBlock, type Marks, REMOVE_MARKS, withBlock } from '../scaffold/marked-block.ts';
import type { Part } from './part.ts';

/** A file that is ACOR's as a whole. */
export function wholeFile(text: string): Part {
  return {
    key: 'file',
    wanted: text,
    found: withoutReturns,
    put: () => text,
    byHand: 'Move it away, then run it again.',
  };
}

/** Lines between two marks. With `rival`, a file that says the same outside of the marks is left alone. */
export function blockOfLines(lines: string, marks: Marks, rival?: RegExp): Part {
  const wanted = `${lines.trimEnd()}\n`;
  const hasRival = (text: string) => {
    const block = findBlock(text, marks);
    const place = typeof block === 'object' ? block : { start: 0, end: 0 };
    return rival?.test(text.slice(0, place.start) + text.slice(place.end)) === true;
  };
  return {
    key: 'block',
    wanted,
    found(text) {
      const block = findBlock(text, marks);
      if (block === 'torn' || hasRival(text)) return undefined;
      return block === undefined ? null : withoutReturns(block.lines);
    },
    put: (text) => (hasRival(text) ? undefined : withBlock(text, lines, marks)),
    byHand: `${rival === undefined ? REMOVE_MARKS : 'Remove your own lines of the same name, or write these in their place:'}\n${wanted.trimEnd()}`,
  };
}

/** A checkout on Windows may have other ends of lines. */
function withoutReturns(text: string): string {
  return text.replaceAll('\r\n', '\n');
}
