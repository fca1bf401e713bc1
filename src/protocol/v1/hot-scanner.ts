import { LOG_LEVELS } from './wire.ts';

/** The type of a line, when it is a frequent message and certainly valid; `other` needs the full check. */
export type HotLine = 'progress' | 'heartbeat' | 'log' | 'other';

const SEEN_V = 1;
const SEEN_TYPE = 2;
const SEEN_TS = 4;
const SEEN_RUN_ID = 8;
const SEEN_STEP = 16;
const SEEN_PCT = 32;
const SEEN_MSG = 64;
const SEEN_LEVEL = 128;
const SEEN_TRACE_ID = 256;
const SEEN_SPAN_ID = 512;
const SEEN_RECORD = 1024;
const SEEN_CLAIMED = 2048;
/** A key whose value only the full check can validate. */
const CAREFUL = -1;

/** What the runner adds to a recognised line, and replaces in it. */
export interface LineGaps {
  /** What the line leaves out of its envelope: bits of `LACKS`. */
  readonly lacks: number;
  /** Where it has the string of another run as its `run_id`; the end is 0 when it has not. */
  readonly foreignStart: number;
  readonly foreignEnd: number;
}

export const LACKS = { v: SEEN_V, ts: SEEN_TS, run_id: SEEN_RUN_ID } as const;
const COMPLETED = LACKS.v | LACKS.ts | LACKS.run_id;

/** Deeper values go to the full check, so that a hostile line cannot exhaust the stack. */
const MAX_DEPTH = 32;

/**
 * 1 for bytes that end the plain part of a JSON string: control characters, quote, backslash, and all non-ASCII bytes.
 */
const STRING_STOP = new Uint8Array(256).map((_, byte) =>
  byte < 32 || byte === 34 || byte === 92 || byte >= 128 ? 1 : 0,
);

const encoder = new TextEncoder();
/** The length of `claimed_run_id`. */
const LONGEST_KEY = 14;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });
/** The keys with rules, by length, so that one comparison distinguishes most of them. */
const KEYS_BY_LENGTH: readonly (readonly (readonly [Uint8Array, number])[])[] = byLength([
  ['v', SEEN_V],
  ['type', SEEN_TYPE],
  ['ts', SEEN_TS],
  ['run_id', SEEN_RUN_ID],
  ['step', SEEN_STEP],
  ['pct', SEEN_PCT],
  ['msg', SEEN_MSG],
  ['level', SEEN_LEVEL],
  ['trace_id', SEEN_TRACE_ID],
  ['span_id', SEEN_SPAN_ID],
  ['record', SEEN_RECORD],
  ['claimed_run_id', SEEN_CLAIMED],
  ['seq', CAREFUL],
  // The runner counts what they say.
  ['metrics', CAREFUL],
]);
const PROGRESS = encoder.encode('progress');
const HEARTBEAT = encoder.encode('heartbeat');
const LOG = encoder.encode('log');
const LEVELS = LOG_LEVELS.map((level) => encoder.encode(level));

/**
 * Recognises the messages that tools send by the thousand (progress, heartbeat, log) from their bytes alone: the full
 * JSON grammar, the envelope as far as it is there, and the fields of the type. It returns `other` whenever it is
 * not sure, so `JSON.parse` and `checkMessage` accept every line that it accepts, once its gaps are filled (a test compares
 * them). The gaps are those of the last line. It allocates nothing.
 */
export class HotScanner implements LineGaps {
  lacks = 0;
  foreignStart = 0;
  foreignEnd = 0;
  readonly #runId: Uint8Array;
  #notAscii = false;

  constructor(runId: string) {
    // The JSON encoding of the id, because bytes are compared.
    this.#runId = encoder.encode(JSON.stringify(runId).slice(1, -1));
  }

  /** Classifies `bytes[start..end)`. */
  scan(bytes: Uint8Array, start: number, end: number): HotLine {
    this.#notAscii = false;
    this.foreignStart = this.foreignEnd = 0;
    const kind = this.#scanObject(bytes, start, end);
    if (kind !== 'other' && this.#notAscii && !isUtf8(bytes, start, end)) return 'other';
    return kind;
  }

  #scanObject(b: Uint8Array, start: number, end: number): HotLine {
    if (b[start] !== 123) return 'other';
    let at = skipSpace(b, start + 1);
    let seen = 0;
    let kind: HotLine = 'other';
    for (;;) {
      if (b[at] !== 34) return 'other';
      const keyStart = at + 1;
      const keyEnd = plainEnd(b, keyStart);
      // A key with an escape could be any other key.
      if (b[keyEnd] !== 34) return 'other';
      at = skipSpace(b, keyEnd + 1);
      if (b[at] !== 58) return 'other';
      at = skipSpace(b, at + 1);
      const key = keyBit(b, keyStart, keyEnd);
      if (key === CAREFUL || (seen & key) !== 0) return 'other';
      seen |= key;
      const valueStart = at;
      at = this.#skipValue(b, at, 0);
      if (at === -1) return 'other';
      if (key !== 0) {
        if (key === SEEN_TYPE) {
          kind = typeOf(b, valueStart, at);
          if (kind === 'other') return 'other';
        } else if (!this.#holds(key, b, valueStart, at)) return 'other';
      }
      at = skipSpace(b, at);
      if (b[at] === 44) {
        at = skipSpace(b, at + 1);
        continue;
      }
      if (b[at] !== 125 || at + 1 !== end) return 'other';
      break;
    }
    if ((seen & SEEN_TYPE) === 0) return 'other';
    // The claim that the runner writes must be the only one.
    if (this.foreignEnd !== 0 && (seen & SEEN_CLAIMED) !== 0) return 'other';
    this.lacks = COMPLETED & ~seen;
    if (kind === 'log') return (seen & SEEN_LEVEL) !== 0 && (seen & SEEN_MSG) !== 0 ? kind : 'other';
    return kind;
  }

  /** Whether the value of a known key is valid for every hot type. */
  #holds(key: number, b: Uint8Array, start: number, end: number): boolean {
    switch (key) {
      case SEEN_V:
        return end - start === 1 && b[start] === 49;
      case SEEN_TS:
        return isUtcTime(b, start, end);
      case SEEN_RUN_ID:
        if (b[start] !== 34) return false;
        if (isString(b, start, end, this.#runId)) return true;
        this.foreignStart = start;
        this.foreignEnd = end;
        return true;
      case SEEN_CLAIMED:
        return true;
      case SEEN_PCT:
        return isPercent(b, start, end);
      case SEEN_LEVEL:
        return LEVELS.some((level) => isString(b, start, end, level));
      case SEEN_TRACE_ID:
        return isHexString(b, start, end, 32);
      case SEEN_SPAN_ID:
        return isHexString(b, start, end, 16);
      case SEEN_RECORD:
        return b[start] === 123;
      default:
        return b[start] === 34;
    }
  }

  /**
   * The end of the JSON value at `at`, or -1. A bound check is not needed: the caller compares the end of the whole.
   */
  #skipValue(b: Uint8Array, at: number, depth: number): number {
    const first = b[at]!;
    if (first === 34) return this.#skipString(b, at + 1);
    if (first === 45 || (first >= 48 && first <= 57)) return skipNumber(b, at);
    switch (first) {
      case 116:
        return b[at + 1] === 114 && b[at + 2] === 117 && b[at + 3] === 101 ? at + 4 : -1;
      case 110:
        return b[at + 1] === 117 && b[at + 2] === 108 && b[at + 3] === 108 ? at + 4 : -1;
      case 102:
        return b[at + 1] === 97 && b[at + 2] === 108 && b[at + 3] === 115 && b[at + 4] === 101 ? at + 5 : -1;
      case 123:
        return depth < MAX_DEPTH ? this.#skipMembers(b, at, depth, 125) : -1;
      case 91:
        return depth < MAX_DEPTH ? this.#skipMembers(b, at, depth, 93) : -1;
      default:
        return -1;
    }
  }

  #skipMembers(b: Uint8Array, open: number, depth: number, close: number): number {
    let at = skipSpace(b, open + 1);
    if (b[at] === close) return at + 1;
    for (;;) {
      if (close === 125) {
        if (b[at] !== 34) return -1;
        at = this.#skipString(b, at + 1);
        if (at === -1) return -1;
        at = skipSpace(b, at);
        if (b[at] !== 58) return -1;
        at = skipSpace(b, at + 1);
      }
      at = this.#skipValue(b, at, depth + 1);
      if (at === -1) return -1;
      at = skipSpace(b, at);
      if (b[at] === close) return at + 1;
      if (b[at] !== 44) return -1;
      at = skipSpace(b, at + 1);
    }
  }

  #skipString(b: Uint8Array, from: number): number {
    let at = from;
    for (;;) {
      at = plainEnd(b, at);
      const stop = b[at]!;
      if (stop === 34) return at + 1;
      if (stop >= 128) {
        this.#notAscii = true;
        at++;
      } else if (stop === 92) {
        at = skipEscape(b, at + 1);
        if (at === -1) return -1;
      } else return -1;
    }
  }
}

const CLOSE_BRACE = 125;
const CLAIMED = encoder.encode(',"claimed_run_id":');

/** A line in a larger array, which is only valid until the next one. */
export interface LineIn {
  bytes: Uint8Array;
  end: number;
}

/**
 * Adds to a line what it leaves out of its envelope, and replaces another run's `run_id`, which becomes `claimed_run_id`. It copies bytes:
 * parsing the line and writing it again would take five times as long.
 */
export class LineCompleter {
  readonly #ownId: string;
  readonly #runId: Uint8Array;
  #buffer = new Uint8Array(4096);
  /** What goes before the line, by the bits of what it lacks. */
  #heads = new Map<number, Uint8Array>();
  #ts = '';

  constructor(runId: string) {
    this.#ownId = runId;
    this.#runId = encoder.encode(JSON.stringify(runId));
  }

  /** The whole line, which begins at 0. `ts` is the time of a line that has none. */
  complete(bytes: Uint8Array, start: number, end: number, gaps: LineGaps, ts: string): LineIn {
    if (ts !== this.#ts) {
      this.#heads.clear();
      this.#ts = ts;
    }
    const { lacks, foreignStart, foreignEnd } = gaps;
    const head = this.#heads.get(lacks) ?? this.#headOf(lacks);
    const isForeign = foreignEnd !== 0;
    const most = head.length + end - start + this.#runId.length + CLAIMED.length;
    if (this.#buffer.length < most) this.#buffer = new Uint8Array(2 * most);
    const out = this.#buffer;
    out.set(head);
    let at = head.length;
    const add = (part: Uint8Array) => {
      out.set(part, at);
      at += part.length;
    };
    if (isForeign) {
      add(bytes.subarray(start + 1, foreignStart));
      add(this.#runId);
      add(bytes.subarray(foreignEnd, end - 1));
      add(CLAIMED);
      add(bytes.subarray(foreignStart, foreignEnd));
    } else add(bytes.subarray(start + 1, end - 1));
    out[at++] = CLOSE_BRACE;
    return { bytes: out, end: at };
  }

  #headOf(lacks: number): Uint8Array {
    let fields = '';
    if ((lacks & LACKS.v) !== 0) fields += '"v":1,';
    if ((lacks & LACKS.ts) !== 0) fields += `"ts":${JSON.stringify(this.#ts)},`;
    if ((lacks & LACKS.run_id) !== 0) fields += `"run_id":${JSON.stringify(this.#ownId)},`;
    const head = encoder.encode(`{${fields}`);
    this.#heads.set(lacks, head);
    return head;
  }
}

function plainEnd(b: Uint8Array, from: number): number {
  let at = from;
  while (STRING_STOP[b[at]!] === 0) at++;
  return at;
}

function skipEscape(b: Uint8Array, at: number): number {
  switch (b[at]) {
    case 34:
    case 47:
    case 92:
    case 98:
    case 102:
    case 110:
    case 114:
    case 116:
      return at + 1;
    case 117:
      for (let i = 1; i <= 4; i++) if (!isHex(b[at + i]!)) return -1;
      return at + 5;
    default:
      return -1;
  }
}

function skipNumber(b: Uint8Array, from: number): number {
  let at = b[from] === 45 ? from + 1 : from;
  if (b[at] === 48) at++;
  else if (isDigit(b[at]!)) at = skipDigits(b, at);
  else return -1;
  if (b[at] === 46) {
    if (!isDigit(b[at + 1]!)) return -1;
    at = skipDigits(b, at + 1);
  }
  if (b[at] === 101 || b[at] === 69) {
    at++;
    if (b[at] === 43 || b[at] === 45) at++;
    if (!isDigit(b[at]!)) return -1;
    at = skipDigits(b, at);
  }
  return at;
}

function skipDigits(b: Uint8Array, from: number): number {
  let at = from;
  while (isDigit(b[at]!)) at++;
  return at;
}

function skipSpace(b: Uint8Array, from: number): number {
  let at = from;
  let byte = b[at]!;
  while (byte <= 32 && (byte === 32 || byte === 9 || byte === 13)) byte = b[++at]!;
  return at;
}

/** The bit of a known key, 0 for a key without rules, `CAREFUL` for one that needs the full check. */
function keyBit(b: Uint8Array, start: number, end: number): number {
  const length = end - start;
  if (length >= KEYS_BY_LENGTH.length) return 0;
  const candidates = KEYS_BY_LENGTH[length]!;
  for (let i = 0; i < candidates.length; i++) {
    const candidate = candidates[i]!;
    if (isSpelled(b, start, end, candidate[0])) return candidate[1];
  }
  return 0;
}

function byLength(keys: readonly (readonly [string, number])[]): (readonly [Uint8Array, number])[][] {
  // Not by Array.from: the runtime compiles it at its first use, which takes 0.3 ms of each start.
  const table: (readonly [Uint8Array, number])[][] = [];
  for (let length = 0; length <= LONGEST_KEY; length++) table.push([]);
  for (const [key, bit] of keys) table[key.length]!.push([encoder.encode(key), bit]);
  return table;
}

function typeOf(b: Uint8Array, start: number, end: number): HotLine {
  if (isString(b, start, end, PROGRESS)) return 'progress';
  if (isString(b, start, end, HEARTBEAT)) return 'heartbeat';
  return isString(b, start, end, LOG) ? 'log' : 'other';
}

function isString(b: Uint8Array, start: number, end: number, text: Uint8Array): boolean {
  return b[start] === 34 && isSpelled(b, start + 1, end - 1, text);
}

function isSpelled(b: Uint8Array, start: number, end: number, text: Uint8Array): boolean {
  if (end - start !== text.length) return false;
  for (let i = 0; i < text.length; i++) if (b[start + i] !== text[i]) return false;
  return true;
}

/** `"2025-08-30T12:34:56Z"`, with up to 9 fractional digits. */
function isUtcTime(b: Uint8Array, start: number, end: number): boolean {
  const length = end - start - 2;
  if (length < 20 || length > 30 || b[start] !== 34) return false;
  const at = start + 1;
  for (let i = 0; i < 19; i++) {
    const byte = b[at + i]!;
    const separator = TIME_SEPARATORS[i]!;
    if (separator === 0 ? !isDigit(byte) : byte !== separator) return false;
  }
  if (!isInRange(b, at + 5, 1, 12) || !isInRange(b, at + 8, 1, 31) || !isInRange(b, at + 11, 0, 23))
    return false;
  if (!isInRange(b, at + 14, 0, 59) || !isInRange(b, at + 17, 0, 59)) return false;
  if (b[at + length - 1] !== 90) return false;
  if (length === 20) return true;
  if (b[at + 19] !== 46 || length < 22) return false;
  for (let i = 20; i < length - 1; i++) if (!isDigit(b[at + i]!)) return false;
  return true;
}

const TIME_SEPARATORS = encoder.encode('0000-00-00T00:00:00'.replaceAll('0', '\0'));

/** Whether the two digits at `at` are a number from `min` to `max`. */
function isInRange(b: Uint8Array, at: number, min: number, max: number): boolean {
  const number = (b[at]! - 48) * 10 + b[at + 1]! - 48;
  return number >= min && number <= max;
}

/** `"0af7…"`: this many hex digits, in lower case. */
function isHexString(b: Uint8Array, start: number, end: number, digits: number): boolean {
  if (end - start !== digits + 2 || b[start] !== 34) return false;
  for (let at = start + 1; at < end - 1; at++)
    if (!isDigit(b[at]!) && !(b[at]! >= 97 && b[at]! <= 102)) return false;
  return true;
}

/** A plain number from 0 to 100; other notations go to the full check. */
function isPercent(b: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at < end && isDigit(b[at]!)) at++;
  const whole = at - start;
  if (whole === 0 || whole > 3) return false;
  if (whole === 3) return at === end && b[start] === 49 && b[start + 1] === 48 && b[start + 2] === 48;
  for (; at < end; at++) if (b[at] !== 46 && !isDigit(b[at]!)) return false;
  return true;
}

function isDigit(byte: number): boolean {
  return byte >= 48 && byte <= 57;
}

function isHex(byte: number): boolean {
  return isDigit(byte) || (byte >= 65 && byte <= 70) || (byte >= 97 && byte <= 102);
}

function isUtf8(bytes: Uint8Array, start: number, end: number): boolean {
  try {
    strictUtf8.decode(bytes.subarray(start, end));
    return true;
  } catch {
    return false;
  }
}
