import { endOfExpression, type TemplatePart } from '../expression/split-template.ts';

/**
 * Splits a command line as a shell does (quotes, backslashes), and no further: nothing is expanded. An expression `${…}` belongs to
 * its word with all that is in it, within quotes, too; `$${` and a `$` behind a backslash begin none. A text tells what is wrong.
 */
export function splitWords(line: string): TemplatePart[][] | string {
  const words: TemplatePart[][] = [];
  let word: TemplatePart[] | undefined;
  let quote: string | undefined;
  const add = (text: string) => {
    word ??= [];
    const last = word.at(-1);
    if (typeof last === 'string') word[word.length - 1] = last + text;
    else word.push(text);
  };
  for (let at = 0; at < line.length; at++) {
    const char = line[at]!;
    const next = line[at + 1] ?? '';
    if (line.startsWith('$${', at)) {
      add('${');
      at += 2;
    } else if (char === '$' && next === '{') {
      const end = endOfExpression(line, at + 2);
      if (end === undefined) return 'a ${ of the command is never closed';
      word ??= [];
      word.push({ source: line.slice(at + 2, end), offset: at + 2 });
      at = end;
    } else if (char === quote) quote = undefined;
    else if (quote === "'") add(char);
    else if (char === '\\' && next !== '' && (quote === undefined || '"\\$`'.includes(next))) {
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
  if (quote !== undefined) return 'a quote of the command is never closed';
  if (word !== undefined) words.push(word);
  return words;
}
