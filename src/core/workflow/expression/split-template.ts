/** A part of a text: literal text, or the source of an expression with its offset. */
export type TemplatePart = string | { source: string; offset: number };

/** Splits a text into literal parts and `${…}` expressions; `$${` escapes `${`. */
export function splitTemplate(text: string): { parts: TemplatePart[] } | { unclosed: number } {
  const parts: TemplatePart[] = [];
  let literal = '';
  for (let at = 0; at < text.length; ) {
    if (text.startsWith('$${', at)) {
      literal += '${';
      at += 3;
      continue;
    }
    if (!text.startsWith('${', at)) {
      literal += text[at++];
      continue;
    }
    const close = endOfExpression(text, at + 2);
    if (close === undefined) return { unclosed: at };
    if (literal !== '') parts.push(literal);
    literal = '';
    parts.push({ source: text.slice(at + 2, close), offset: at + 2 });
    at = close + 1;
  }
  if (literal !== '') parts.push(literal);
  return { parts };
}

/** Finds the brace that closes an expression. It skips nested braces and quoted strings. */
export function endOfExpression(text: string, from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const char = text[at]!;
    if (char === '"' || char === "'") {
      const end = endOfString(text, at, isRaw(text, at));
      if (end === undefined) return undefined;
      at = end;
    } else if (char === '{') depth++;
    else if (char === '}' && depth-- === 0) return at;
  }
  return undefined;
}

/**
 * The offset of the last character of the CEL string that starts here: single or triple quotes, raw or with escapes.
 */
function endOfString(text: string, from: number, raw: boolean): number | undefined {
  const one = text[from]!;
  const quote = text.startsWith(one.repeat(3), from) ? one.repeat(3) : one;
  for (let at = from + quote.length; at < text.length; at++) {
    if (text[at] === '\\' && !raw) at++;
    else if (text.startsWith(quote, at)) return at + quote.length - 1;
  }
  return undefined;
}

function isRaw(text: string, at: number): boolean {
  return /(?:^|[^\w])(?:[rR][bB]?|[bB][rR])$/.test(text.slice(Math.max(0, at - 3), at));
}
