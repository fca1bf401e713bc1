/**
 * Takes a shell's command line apart into simple commands and their words, quotes removed. What a shell would replace (variables,
 * globs) stays as it is written; what is written to (`> file`) is left out.
 */
export function splitShell(text: string): string[][] {
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | undefined;
  let isTarget = false;
  const endWord = () => {
    if (word !== undefined && !isTarget) words.push(word);
    if (word !== undefined) isTarget = false;
    word = undefined;
  };
  const endCommand = () => {
    endWord();
    if (words.length > 0) commands.push(words);
    words = [];
    isTarget = false;
  };
  for (const [piece] of text.matchAll(PIECES)) {
    const first = piece[0]!;
    if (piece === '\\\n') continue;
    if (first === "'") word = (word ?? '') + piece.slice(1, piece.endsWith("'") ? -1 : undefined);
    else if (first === '"') word = (word ?? '') + inQuotes(piece);
    else if (first === '\\') word = (word ?? '') + piece.slice(1);
    else if (first === '#' && word === undefined) continue;
    else if (/[;|&()`\n{}]/.test(first) || piece === '$(') endCommand();
    else if (/\s/.test(first)) endWord();
    else if (first === '>') {
      // The number before it is that of a descriptor.
      if (word !== undefined && /^\d+$/.test(word)) word = undefined;
      endWord();
      isTarget = true;
    } else if (first === '<') endWord();
    else word = (word ?? '') + piece;
  }
  endCommand();
  return commands;
}

const PIECES =
  /\\\n|'[^']*'?|"(?:[^"\\]|\\[\s\S])*"?|\\[\s\S]|(?<=^|\s)#[^\n]*|\$\(|>>?&?\d*|[<;|&()`\n{}]|[^\S\n]+|[^\s'"\\<>;|&()`{}$]+|\$|\\/g;

function inQuotes(piece: string): string {
  const inside = piece.slice(1, piece.length > 1 && piece.endsWith('"') ? -1 : undefined);
  return inside.replace(/\\([\\"$`\n])/g, '$1');
}
