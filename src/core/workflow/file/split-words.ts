/**
 * Splits a command line as a shell does (quotes, backslashes), and no further: nothing is expanded, and an expression `${…}` stays
 * in one word with all that is in it. Undefined when a quote is never closed.
 */
export function splitWords(line: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < line.length; at++) {
    const char = line[at]!;
    if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    word ??= '';
    if (char === '$' && line[at + 1] === '{') {
      const end = endOfExpression(line, at + 2);
      word += line.slice(at, end);
      at = end - 1;
    } else if (char === "'" || char === '"') {
      const end = endOfQuote(line, at + 1, char);
      if (end === -1) return undefined;
      const inside = line.slice(at + 1, end);
      word += char === '"' ? inside.replace(/\\(["\\$`])/g, '$1') : inside;
      at = end;
    } else if (char === '\\' && at + 1 < line.length) {
      word += line[++at];
    } else word += char;
  }
  if (word !== undefined) words.push(word);
  return words;
}

function endOfQuote(line: string, from: number, quote: string): number {
  for (let at = from; at < line.length; at++) {
    if (line[at] === '\\' && quote === '"') at++;
    else if (line[at] === quote) return at;
  }
  return -1;
}

function endOfExpression(line: string, from: number): number {
  let depth = 1;
  for (let at = from; at < line.length; at++) {
    if (line[at] === '{') depth++;
    else if (line[at] === '}' && --depth === 0) return at + 1;
  }
  return line.length;
}
