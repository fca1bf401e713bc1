/**
 * Takes a command line apart as a POSIX shell does (quotes, backslashes), and no further: nothing is expanded. Undefined when a quote
 * is never closed.
 */
export function splitCommand(line: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let at = 0; at < line.length; at++) {
    const char = line[at]!;
    const next = line[at + 1];
    if (char === quote) quote = undefined;
    else if (quote === "'") word += char;
    else if (char === '\\' && next !== undefined && (quote === undefined || '"\\$`'.includes(next))) {
      word = (word ?? '') + next;
      at++;
    } else if (quote === undefined && (char === "'" || char === '"')) {
      // An empty pair of quotes is a word.
      word ??= '';
      quote = char;
    } else if (quote === undefined && /\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + char;
  }
  if (quote !== undefined) return undefined;
  if (word !== undefined) words.push(word);
  return words;
}
