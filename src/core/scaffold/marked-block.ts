import { type PlannedFile, textAt } from './planned-file.ts';

const BEGIN = '# acor:begin';
const END = '# acor:end';

/** Plans a block of lines in a file that is somebody else's. What stands outside of the marks is never touched. */
export function planBlock(path: string, lines: string): PlannedFile {
  const block = `${BEGIN}\n${lines.trimEnd()}\n${END}\n`;
  const found = textAt(path);
  if (found === undefined) return { path, action: 'create', text: block };
  if (found === null)
    return { path, action: 'keep', why: 'it is a link or no file', by_hand: `Add to it: ${oneLine(lines)}` };
  const begin = lineStart(found, BEGIN);
  const end = lineStart(found, END);
  if (begin === -1 && end === -1) {
    const gap = found === '' ? '' : found.endsWith('\n') ? '\n' : '\n\n';
    return { path, action: 'merge', text: `${found}${gap}${block}` };
  }
  if (begin === -1 || end < begin || lineStart(found.slice(begin + 1), BEGIN) !== -1)
    return {
      path,
      action: 'could_not',
      why: `its marks ${BEGIN} and ${END} do not pair up`,
      by_hand: `Remove both marks from it, then run it again.`,
    };
  const after = found.slice(end + END.length).replace(/^[^\n]*\n?/, '');
  const text = `${found.slice(0, begin)}${block}${after}`;
  return text === found ? { path, action: 'unchanged' } : { path, action: 'merge', text };
}

/** Where a line begins that starts with a mark; -1 when there is none. */
function lineStart(text: string, mark: string): number {
  return text.startsWith(mark) ? 0 : text.indexOf(`\n${mark}`) + (text.includes(`\n${mark}`) ? 1 : 0);
}

function oneLine(lines: string): string {
  return lines.trim().split('\n').join(' ');
}
