import { findBlock, type Marks, REMOVE_MARKS, withBlock } from '../scaffold/marked-block.ts';

/**
 * What ACOR puts into one file of an agent: the whole file, a block of lines, or a value. Everything beside it is somebody else's.
 */
export interface Part {
  /** Names it within its file, and in the record. */
  key: string;
  /** What it should be. */
  wanted: string;
  /** What it is now, in the same spelling; null where the file has none, undefined where the file cannot be read. */
  found(text: string): string | null | undefined;
  /** The text with the part as it should be; undefined where there is no place for it. */
  put(text: string): string | undefined;
  /** What a person puts in where ACOR cannot. */
  byHand: string;
}

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
