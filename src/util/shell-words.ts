/** Quotes words as a POSIX shell command line. */
export function shellCommand(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');
}

/** Reads a unit that must not be split, if one begins here: a text or a custom piece. `end` is the offset after it. */
type ReadPiece<P> = (line: string, at: number) => { piece: P | string; end: number } | undefined;

/**
 * Splits a command line into words as a POSIX shell does (quotes, backslashes) without any expansion. Undefined when a
 * quote is never closed.
 */
export function splitCommand(line: string): string[] | undefined {
  return splitWords<never>(line, () => undefined)?.map((word) => word.join(''));
}

/** The same, but a word is a list of texts and of the pieces that `readPiece` finds, also within quotes. */
export function splitWords<P>(line: string, readPiece: ReadPiece<P>): (string | P)[][] | undefined {
  const words: (string | P)[][] = [];
  let word: (string | P)[] | undefined;
  let quote: string | undefined;
  const add = (piece: string | P) => {
    word ??= [];
    const last = word.at(-1);
    if (typeof last === 'string' && typeof piece === 'string') word[word.length - 1] = last + piece;
    else word.push(piece);
  };
  for (let at = 0; at < line.length; at++) {
    const char = line[at]!;
    const next = line[at + 1];
    const found = readPiece(line, at);
    if (found !== undefined) {
      add(found.piece);
      at = found.end - 1;
    } else if (char === quote) quote = undefined;
    else if (quote === "'") add(char);
    else if (char === '\\' && next !== undefined && (quote === undefined || '"\\$`'.includes(next))) {
      add(next);
      at++;
    } else if (quote === undefined && (char === "'" || char === '"')) {
      // An empty pair of quotes is a word.
      add('');
      quote = char;
    } else if (quote === undefined && /\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else add(char);
  }
  if (quote !== undefined) return undefined;
  if (word !== undefined) words.push(word);
  return words;
}
