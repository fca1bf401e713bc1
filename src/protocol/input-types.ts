export const INPUT_TYPES = ['string', 'int', 'number', 'bool', 'path', 'json', 'duration', 'url'] as const;

export type InputType = (typeof INPUT_TYPES)[number];

/** The form of an input's name: it becomes a flag, and the name of a folder. */
export const INPUT_NAME = /^[A-Za-z][A-Za-z0-9_-]*$/;

export const INPUT_NAME_RULE = 'must start with a letter, then letters, digits, _ or -';

/** Whether a JSON or YAML value has an input's type; bounds are checked elsewhere. */
export function isOfType(type: InputType, value: unknown): boolean {
  switch (type) {
    case 'string':
    case 'path':
      return typeof value === 'string';
    case 'url':
      return typeof value === 'string' && URL.canParse(value);
    case 'int':
      return Number.isSafeInteger(value);
    case 'number':
      return Number.isFinite(value);
    case 'bool':
      return typeof value === 'boolean';
    case 'json':
      return value !== undefined;
    case 'duration':
      return typeof value === 'string'
        ? parseDurationS(value) !== undefined
        : Number.isFinite(value) && Number(value) >= 0;
  }
}

/** The flag of an input (contract §5). */
export function flagOf(input: { name: string; flag?: string | undefined }): string {
  return input.flag ?? `--${input.name.replaceAll('_', '-')}`;
}

const SECONDS = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 } as const;

/** Parses a duration (contract §5) to seconds: `90`, `90s`, `5m`, `1h`, `2d`, `250ms`. */
export function parseDurationS(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text.trim());
  if (!match) return undefined;
  return Number(match[1]) * SECONDS[(match[2] ?? 's') as keyof typeof SECONDS];
}

/** More ways to match than this are not tried by an engine that backtracks. It tries as many in some tens of milliseconds. */
const MAX_WAYS = 1_000_000;

const TOKENS =
  /\\(?:[1-9]|k<|.)|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:<?[=!]|<[^>]*>|:))?|\)|[*+?]\??|\{\d+(?:,\d*)?\}\??|\|/gsu;

/**
 * Whether an engine that backtracks finds out quickly if a text of this length matches a regular expression: an upper bound of the ways in
 * which it can match, without a look at what it matches. Where the answer is no, the pattern may still be a harmless one.
 */
export function isQuickPattern(source: string, length: number): boolean {
  let ways = source.startsWith('^') && !source.includes('|') ? 1 : length + 1;
  /** For each open group, whether it can match in several ways. */
  const groups = [false];
  /** The same for the group that ends here. */
  let closed = { end: -1, hasWays: false };
  for (const { 0: token, index } of source.matchAll(TOKENS)) {
    const count = waysOf(token, length);
    if (/^[*+{]/.test(token) && closed.end === index && closed.hasWays) return false;
    if (count > 1) groups[groups.length - 1] = true;
    ways *= count;
    if (token.startsWith('(')) groups.push(false);
    if (token === ')') {
      closed = { end: index + 1, hasWays: groups.pop() === true };
      if (closed.hasWays) groups[groups.length - 1] = true;
    }
  }
  return ways <= MAX_WAYS;
}

/** In how many ways a part of a pattern can match at one place. */
function waysOf(token: string, length: number): number {
  if (token === '|' || token.startsWith('?')) return 2;
  if (/^(?:[*+]|\\[1-9k]$|\\k<)/.test(token)) return length + 1;
  const [, min, max] = /^\{(\d+)(,\d*)?\}/.exec(token) ?? [];
  if (max === undefined) return 1;
  return max === ',' ? length + 1 : Math.min(length, Number(max.slice(1)) - Number(min)) + 1;
}
