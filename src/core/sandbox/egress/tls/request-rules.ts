import type { RequestRule } from '../egress-plan.ts';
import type { Field } from '../http-head.ts';

/** A rule, and how much the tool has sent by it in this attempt. */
export interface UsedRule {
  readonly rule: RequestRule;
  sentBytes: number;
}

/**
 * Servers take the method, the path or the host of a request from such headers: X-HTTP-Method-Override, X-Original-URL,
 * X-Forwarded-Host and many more.
 */
const OVERRIDE =
  /(?:^|-)(?:method|verb|override|rewrite)(?:-|$)|^x-(?:.*-)?(?:ur[il]|path|prefix|host|server|authority)$|^(?:destination|forwarded)$/;
// Old code pages have the same byte for a dot or a separator and for these, and some servers replace them by what looks alike.
const DOT = '[.\u00b7\u0387\u06d4\u2022\u2027\u2219\u22c5\u3002\u30fb]';
const LIKE_SEPARATOR = /[/\u00a5\u20a9\u2044\u2215\u2216\u2571\u2572\u29f5\u29f8\u29f9]/u;
/** What servers cut off: invisible characters and spaces. */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\p{C}\p{Z}]/gu;
const OF_DOTS = new RegExp(`^${DOT}{0,2}(?:[; ]|$)`, 'u');
const UPWARD = new RegExp(`^${DOT}{2}(?![\\p{L}\\p{N}._~-])`, 'u');
/** What a browser asks about a later request. */
const ASKING = /^access-control-/;

/** A header's name as all servers read it: to some each other sign is the same as `-`. */
export function spelledName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '-');
}

/** Why a request is not allowed; undefined when a rule allows it. Without rules every request is allowed. */
export function chooseRule(
  rules: readonly UsedRule[],
  request: { method: string; target: string; fields: readonly Field[] },
): { rule: UsedRule | undefined } | { why: string; path?: string } {
  if (rules.length === 0) return { rule: undefined };
  const override = request.fields.map(([name]) => spelledName(name)).find(isOverride);
  if (override !== undefined) return { why: `the header ${override} could change what is requested` };
  const path = plainPath(request.target);
  if (path === undefined) return { why: 'its path can be read in two ways' };
  const rule = rules.find((each) => allows(each.rule, request.method, path));
  if (rule !== undefined) return { rule };
  const allowed = rules.map(({ rule: each }) => wordsOf(each)).join('; ');
  return { why: `permissions.network.egress_allow of tool.yaml allows ${allowed}`, path };
}

function isOverride(name: string): boolean {
  return OVERRIDE.test(name) && !ASKING.test(name);
}

/** A rule in words. */
function wordsOf({ methods, paths }: RequestRule): string {
  return `${methods?.join(', ') ?? 'every method'} on ${paths?.join(', ') ?? 'every path'}`;
}

function allows({ methods, paths }: RequestRule, method: string, path: string): boolean {
  const isMethod = methods?.includes(method) ?? true;
  return isMethod && (paths?.some((pattern) => matches(pattern.split('/'), path.split('/'))) ?? true);
}

/** Segment by segment: `*` is one that is not empty, `**` at the end is everything below. */
function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  const isOpen = pattern.at(-1) === '**';
  const fixed = isOpen ? pattern.slice(0, -1) : pattern;
  if (isOpen ? segments.length < fixed.length : segments.length !== fixed.length) return false;
  return fixed.every((each, at) => (each === '*' ? segments[at] !== '' : each === segments[at]));
}

/**
 * The path as every server reads it; undefined when servers differ: dots as segments, also with parameters or spaces,
 * empty segments, separators and dots that are encoded, encoded twice, written as a backslash or as a wide character,
 * control characters, characters that look like dots or separators around dots, and bytes that are no UTF-8.
 */
function plainPath(target: string): string | undefined {
  const [written = ''] = target.split('?', 1);
  if (written === '*') return written;
  if (/[#\\]|%(?![0-9a-f]{2})|%[01]|%7f|%25/i.test(written)) return undefined;
  const decoded = decodedPath(written);
  // Decoding must not bring in a separator, a dot or a further code.
  if (decoded === undefined || signsOf(decoded.normalize('NFKC')) !== signsOf(written)) return undefined;
  const segments = decoded.split('/').slice(1);
  const isPlain = segments.every(
    (each, at) => !isOfDots(each) || (each === '' && at === segments.length - 1),
  );
  return isPlain && !decoded.normalize('NFKC').split(LIKE_SEPARATOR).some(isUpward)
    ? withPlainLetters(written)
    : undefined;
}

function isOfDots(segment: string): boolean {
  return OF_DOTS.test(segment) || OF_DOTS.test(segment.replace(UNSEEN, ''));
}

/** Two dots, and nothing behind them that makes them a part of an ordinary name. */
function isUpward(part: string): boolean {
  return UPWARD.test(part) || UPWARD.test(part.replace(UNSEEN, ''));
}

/** Only printable ASCII is decoded, as in the paths of a manifest. */
function withPlainLetters(written: string): string {
  return written.replace(/%([0-9a-f]{2})/gi, (code, digits: string) => {
    const character = String.fromCharCode(Number.parseInt(digits, 16));
    return /[!-~]/.test(character) ? character : code;
  });
}

function decodedPath(written: string): string | undefined {
  try {
    return decodeURIComponent(written);
  } catch {
    return undefined;
  }
}

/** The characters that servers cut a path at, in their order. */
function signsOf(path: string): string {
  return path.replace(/%..|[^/.\\;?#%]/g, '');
}
