/** Stands in a text in front of a number that a program cannot hold, and in its place among values. Unicode keeps the character out of texts. */
const MARK = '\u{10ffff}';

const MARKED = new RegExp(`^${MARK}(\\S+)$`);

/** Strings, which may have digits or be keys, numbers, and the ends of objects in a JSON text. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|-?\d[\d.eE+-]*|[{}]/gs;

/**
 * Parses JSON as `JSON.parse` does, but keeps the text of each number that a program cannot hold: null would come of 1e400 when it is written
 * again, 0 of 1e-400, and another whole number of one with more than 16 digits. Throws a SyntaxError.
 */
export function parseExact(json: string): unknown {
  const value: unknown = JSON.parse(json);
  const marked = json.replace(TOKENS, (token) => (isInexact(token) ? `"${MARK}${token}"` : token));
  return marked === json ? value : JSON.parse(marked);
}

/** The first key that an object of a valid JSON text has twice: `JSON.parse` takes the last value. */
function duplicateKey(json: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, colon] of json.matchAll(TOKENS)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    if (colon === undefined) continue;
    const key: string = JSON.parse(token.slice(0, -colon.length));
    const keys = open.at(-1)!;
    if (keys.has(key)) return key;
    keys.add(key);
  }
  return undefined;
}

/**
 * What of a JSON text, and of its parsed value, would not be passed on as it is, in words behind the name of the text; undefined when all of
 * it would.
 */
export function lossOf(json: string, value: unknown): { mistake: string; fix: string } | undefined {
  const number = inexactNumberIn(json);
  return lossOfValue(value) ?? (number === undefined ? lossOfKey(json) : lossOfNumber(number));
}

/** The same of a value that a program passes, which may hold what no JSON text does. */
export function lossOfValue(value: unknown): { mistake: string; fix: string } | undefined {
  return isTooDeep(value) ? TOO_DEEP : lossAt(value, '');
}

function lossAt(value: unknown, place: string): { mistake: string; fix: string } | undefined {
  const at = place === '' ? '' : ` at ${place}`;
  if (value instanceof Map || value instanceof Set)
    return {
      mistake: `must not have a ${value.constructor.name}${at}, which would be read as an empty object`,
      fix: 'Pass objects and lists: a Map as Object.fromEntries(map), a Set as [...set].',
    };
  if (typeof value === 'string' && !value.isWellFormed())
    return {
      mistake: `must not have the text ${JSON.stringify(value).slice(0, MAX_SHOWN_CHARS)}${at}: a half of a surrogate pair is no character`,
      fix: 'Pass whole characters: both halves of the pair, or neither.',
    };
  if (!isNested(value)) return undefined;
  for (const [key, each] of Object.entries(value)) {
    const loss = lossAt(key, place) ?? lossAt(each, place === '' ? key : `${place}.${key}`);
    if (loss !== undefined) return loss;
  }
  return undefined;
}

const MAX_SHOWN_CHARS = 100;

export function lossOfNumber(number: string): { mistake: string; fix: string } {
  return {
    mistake: `must not have the number ${number}, which could only be passed on as another value`,
    fix: `Give a number from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}. Where the input takes text, give the digits in quotes.`,
  };
}

export function lossOfKey(json: string): { key: string; mistake: string; fix: string } | undefined {
  const key = duplicateKey(json);
  return key === undefined
    ? undefined
    : { key, mistake: `must not have the key '${key}' twice`, fix: 'Keep one of the two.' };
}

/** Deeper values overflow the stack of what writes, compares and checks them. */
const MAX_DEPTH = 1_000;

export const TOO_DEEP = {
  mistake: `must not be nested deeper than ${MAX_DEPTH} levels`,
  fix: 'Pass such data in a file.',
};

/** Whether lists and objects of a value are nested deeper than ACOR passes on. */
export function isTooDeep(value: unknown): boolean {
  let level = [value].filter(isNested);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= MAX_DEPTH) return true;
    // An object of a program may be at several places, and contain itself.
    level = [...new Set(level.flatMap((each) => Object.values(each).filter(isNested)))];
  }
  return false;
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Writes values as JSON for `parseExact`, which finds each number in it that JSON cannot express. Throws a TypeError for a value in itself. */
export function exactJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (typeof each === 'bigint') return `${MARK}${each}n`;
    return typeof each === 'number' && !Number.isFinite(each) ? `${MARK}${each}` : each;
  });
}

/** The first number in what `parseExact` returns that a program cannot hold, as it was written. */
export function inexactNumber(value: unknown): string | undefined {
  if (typeof value === 'string') return MARKED.exec(value)?.[1];
  if (!isNested(value)) return undefined;
  for (const each of Object.values(value)) {
    const found = inexactNumber(each);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Sixteen digits of a whole number, an exponent of two digits, or three hundred zeros behind a point: what a number has that is changed. */
const MAY_BE_INEXACT = /(?<![.\d])\d{16}|\de[+-]?\d{2}|\.0{300}/i;

/** Finds the first number in a valid JSON text that a program changes when it parses the text. Returns it as it is written. */
export function inexactNumberIn(json: string): string | undefined {
  if (!MAY_BE_INEXACT.test(json)) return undefined;
  for (const [token] of json.matchAll(TOKENS)) if (isInexact(token)) return token;
  return undefined;
}

/** What `parseExact` has read, as it was written. */
export function shownJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(new RegExp(`"${MARK}([^"]+)"`, 'g'), '$1');
}

/** Whether a number, as it is written, becomes another one in a program. Decimals may be rounded. */
export function isInexact(text: string): boolean {
  if (!/^[+-]?[.\d]/.test(text)) return false;
  const value = Number(text);
  if (!Number.isFinite(value)) return true;
  const [mantissa] = text.split(/e/i) as [string];
  if (value === 0) return /[1-9]/.test(mantissa);
  const [whole] = /^[+-]?\d+(?=(?:\.0*)?$)/.exec(text) ?? [];
  return whole !== undefined && !Number.isSafeInteger(value) && BigInt(whole) !== BigInt(value);
}
