import { type PlannedFile, textAt } from './planned-file.ts';

/** The lines that mark a block, in the comment syntax of the file. */
export interface Marks {
  begin: string;
  end: string;
}

export const HASH_MARKS: Marks = { begin: '# acor:begin', end: '# acor:end' };
export const HTML_MARKS: Marks = { begin: '<!-- acor:begin -->', end: '<!-- acor:end -->' };

/** Plans a block of lines in a file of the user's. The text outside of the marks never changes. */
export function planBlock(path: string, lines: string): PlannedFile {
  const found = textAt(path);
  if (found === undefined) return { path, action: 'create', text: withBlock('', lines, HASH_MARKS)! };
  if (found === null)
    return {
      path,
      action: 'keep',
      why: 'it is a link or not a plain file',
      by_hand: `Add to it: ${oneLine(lines)}`,
    };
  const text = withBlock(found, lines, HASH_MARKS);
  if (text === undefined)
    return { path, action: 'could_not', why: tornMarks(HASH_MARKS), by_hand: REMOVE_MARKS };
  return text === found ? { path, action: 'unchanged' } : { path, action: 'merge', text };
}

/** The manual fix for unpaired marks. */
export const REMOVE_MARKS = 'Remove both marks from it, then run it again.';

export function tornMarks({ begin, end }: Marks): string {
  return `its marks ${begin} and ${end} do not pair up`;
}

/** The text with the block: replaced in place, or appended. Undefined when the marks do not pair up. */
export function withBlock(text: string, lines: string, marks: Marks): string | undefined {
  const block = `${marks.begin}\n${lines.trimEnd()}\n${marks.end}\n`;
  const place = findBlock(text, marks);
  if (place === 'torn') return undefined;
  if (place !== undefined) return text.slice(0, place.start) + block + text.slice(place.end);
  // An empty line before it says that the last line of the text had an end.
  const gap = text === '' ? '' : '\n';
  return `${text}${gap}${block}`;
}

/** The text without the block and the line feed that `withBlock` puts before it. Undefined when the marks do not pair up. */
export function withoutBlock(text: string, marks: Marks): string | undefined {
  const place = findBlock(text, marks);
  if (place === 'torn') return undefined;
  if (place === undefined) return text;
  const [before, after] = [text.slice(0, place.start), text.slice(place.end)];
  const isLast = after === '' && !before.endsWith('\n\n') && !before.endsWith('\n\r\n');
  return isLast ? before.replace(/\r?\n$/, '') : before.replace(/\n\r?\n$/, '\n') + after;
}

/** The range of the block with its marks, and the lines between them; undefined when there is none. */
export function findBlock(
  text: string,
  marks: Marks,
): { start: number; end: number; lines: string } | 'torn' | undefined {
  const begin = lineStart(text, marks.begin);
  const end = lineStart(text, marks.end);
  if (begin === -1 && end === -1) return undefined;
  if (begin === -1 || end < begin || lineStart(text.slice(begin + 1), marks.begin) !== -1) return 'torn';
  const after = /^[^\n]*\n?/.exec(text.slice(end))![0].length;
  const lines = text.slice(begin, end).replace(/^[^\n]*\n/, '');
  return { start: begin, end: end + after, lines };
}

/** The offset of the first line that starts with a mark; -1 when there is none. */
function lineStart(text: string, mark: string): number {
  return text.startsWith(mark) ? 0 : text.indexOf(`\n${mark}`) + (text.includes(`\n${mark}`) ? 1 : 0);
}

function oneLine(lines: string): string {
  return lines.trim().split('\n').join(' ');
}
