// The scanner of whole chunks, in AssemblyScript: what `src/protocol/v1/hot-scanner.ts` and the log's `keepLine` do for one line, this does for as
// many as it can with one copy. `scripts/write-wasm.ts` compiles it to `src/protocol/v1/scan-lines-wasm.ts`. Both scanners accept the same lines and
// make the same bytes of them (a test compares them), so a change of one is a change of both.
//
// It takes lines from INPUT, and writes each to OUTPUT with what its envelope lacks and with its `seq`. The caller puts the texts that it adds
// into memory before. Reads and writes of 16 bytes at once may go past the end of a text: each region has room behind it.

const ROOM: usize = 64;
/** The longest encoded id of a run, with its quotes. */
export const MAX_ID_BYTES: usize = 256;
export const CHUNK_BYTES: usize = 1 << 18;

const DIGITS: usize = 64;
const DIGITS_END: usize = DIGITS + 24;
const VERSION: usize = 128;
const VERSION_BYTES: usize = 6;
const CLAIMED: usize = 192;
const CLAIMED_BYTES: usize = 18;
/** The run's id as a JSON string. */
export const RUN_ID: usize = 256;
/** `"run_id":"…",` */
export const RUN_FIELD: usize = RUN_ID + MAX_ID_BYTES + ROOM;
/** `"ts":"…",` */
export const TS_FIELD: usize = RUN_FIELD + MAX_ID_BYTES + ROOM;
/** Places in the last line, and what was known there: see `addPlace`. */
const PLACES: usize = 1024;
const PLACE_BYTES: usize = 20;
const MAX_PLACES: i32 = 16;
export const INPUT: usize = 4096;
export const OUTPUT: usize = INPUT + CHUNK_BYTES + ROOM;
/** More than a line can gain: `v`, `ts`, `run_id`, `claimed_run_id`, `seq`. */
const MAX_ADDED: usize = 2 * MAX_ID_BYTES + 256;
const OUTPUT_END: usize = OUTPUT + 2 * CHUNK_BYTES;

const LF: u32 = 10;
const CR: u32 = 13;
const QUOTE: u32 = 34;
const COMMA: u32 = 44;
const COLON: u32 = 58;
const BACKSLASH: u32 = 92;
const OPEN_BRACE: u32 = 123;
const CLOSE_BRACE: u32 = 125;

const SEEN_V: i32 = 1;
const SEEN_TYPE: i32 = 2;
const SEEN_TS: i32 = 4;
const SEEN_RUN_ID: i32 = 8;
const SEEN_STEP: i32 = 16;
const SEEN_PCT: i32 = 32;
const SEEN_MSG: i32 = 64;
const SEEN_LEVEL: i32 = 128;
const SEEN_TRACE_ID: i32 = 256;
const SEEN_SPAN_ID: i32 = 512;
const SEEN_RECORD: i32 = 1024;
const SEEN_CLAIMED: i32 = 2048;
/** A key whose value only the full check can validate. */
const CAREFUL: i32 = -1;

const OTHER: i32 = 0;
const PROGRESS: i32 = 1;
const HEARTBEAT: i32 = 2;
const LOG: i32 = 3;

const MAX_DEPTH: i32 = 32;

let runIdBytes: usize = 0;
let runFieldBytes: usize = 0;
let digitsAt: usize = DIGITS_END;

// What the last scanned line is.
let kind: i32 = OTHER;
let lacks: i32 = 0;
let foreignStart: usize = 0;
let foreignEnd: usize = 0;

// The last line, and how many places are known in it. A tool's next message often begins with the same bytes; it is scanned from the last
// place on up to which it does.
let lastStart: usize = 0;
let places: i32 = 0;

// What the last scan made.
export let outputEnd: usize = OUTPUT;
export let count: i32 = 0;
export let hasProgress: bool = false;

/** The texts of the run are in memory, and are so long. */
export function begin(runId: usize, runField: usize): void {
  runIdBytes = runId;
  runFieldBytes = runField;
  store<u32>(VERSION, 0x3a227622); // "v":
  store<u16>(VERSION + 4, 0x2c31); // 1,
  store<u64>(CLAIMED, 0x656d69616c63222c); // ,"claime
  store<u64>(CLAIMED + 8, 0x5f6e75725f64); // d_run_
  store<u32>(CLAIMED + 14, 0x3a226469); // id":
}

/**
 * Takes the lines of `from..to`, which ends with a line, until one is not a frequent message that is certainly valid, or the output is full.
 * The first of them gets the number after `seq`; `tsField` is the length of the field for lines that lack it. Returns where the first line
 * begins that was not taken.
 */
export function scan(from: usize, to: usize, seq: f64, tsField: usize, takesForeign: bool): usize {
  let at = from;
  outputEnd = OUTPUT;
  count = 0;
  hasProgress = false;
  // The input has changed.
  places = 0;
  writeNumber(seq);
  while (at < to) {
    const close = scanLine(at);
    if (close === 0) return at;
    let end = close + 1;
    if (load<u8>(end) === CR) end++;
    if (load<u8>(end) !== LF) return at;
    if (foreignEnd !== 0 && !takesForeign) return at;
    if (outputEnd + (close - at) + MAX_ADDED > OUTPUT_END) return at;
    write(at, close, tsField);
    count++;
    if (kind === PROGRESS) hasProgress = true;
    at = end + 1;
  }
  return at;
}

function write(start: usize, close: usize, tsField: usize): void {
  let out = outputEnd;
  store<u8>(out++, <u8>OPEN_BRACE);
  if (lacks !== 0) {
    if (lacks & SEEN_V) out = copy(out, VERSION, VERSION_BYTES);
    if (lacks & SEEN_TS) out = copy(out, TS_FIELD, tsField);
    if (lacks & SEEN_RUN_ID) out = copy(out, RUN_FIELD, runFieldBytes);
  }
  if (foreignEnd === 0) out = copy(out, start + 1, close - start - 1);
  else {
    out = copy(out, start + 1, foreignStart - start - 1);
    out = copy(out, RUN_ID, runIdBytes);
    out = copy(out, foreignEnd, close - foreignEnd);
    out = copy(out, CLAIMED, CLAIMED_BYTES);
    out = copy(out, foreignStart, foreignEnd - foreignStart);
  }
  store<u64>(out, 0x3a22716573222c); // ,"seq":
  increment();
  out = copy(out + 7, digitsAt, DIGITS_END - digitsAt);
  store<u16>(out, 0x0a7d); // }\n
  outputEnd = out + 2;
}

function copy(to: usize, from: usize, length: usize): usize {
  for (let i: usize = 0; i < length; i += 16) v128.store(to + i, v128.load(from + i));
  return to + length;
}

function writeNumber(value: f64): void {
  let rest = <u64>value;
  digitsAt = DIGITS_END;
  do {
    store<u8>(--digitsAt, <u8>(48 + (rest % 10)));
    rest /= 10;
  } while (rest !== 0);
}

function increment(): void {
  let at = DIGITS_END - 1;
  while (at >= digitsAt) {
    const digit = load<u8>(at);
    if (digit !== 57) {
      store<u8>(at, digit + 1);
      return;
    }
    store<u8>(at--, 48);
  }
  store<u8>(--digitsAt, 49);
}

/** The closing brace of the line at `start`; 0 when only the full check can say what the line is. */
function scanLine(start: usize): usize {
  if (load<u8>(start) !== OPEN_BRACE) return 0;
  foreignEnd = 0;
  kind = OTHER;
  let seen: i32 = 0;
  let at = start + 1;
  places = samePlaces(start);
  if (places > 0) {
    const place = PLACES + <usize>(places - 1) * PLACE_BYTES;
    at = start + load<u32>(place);
    seen = load<i32>(place, 4);
    kind = load<i32>(place, 8);
    foreignEnd = load<u32>(place, 12);
    if (foreignEnd !== 0) {
      foreignEnd += start;
      foreignStart = start + load<u32>(place, 16);
    }
  }
  lastStart = start;
  at = skipSpace(at);
  while (true) {
    if (load<u8>(at) !== QUOTE) return 0;
    const keyStart = at + 1;
    const keyEnd = plainEnd(keyStart);
    // A key with an escape could be any other key.
    if (load<u8>(keyEnd) !== QUOTE) return 0;
    at = skipSpace(keyEnd + 1);
    if (load<u8>(at) !== COLON) return 0;
    at = skipSpace(at + 1);
    const key = keyBit(keyStart, keyEnd - keyStart);
    if (key === CAREFUL || (seen & key) !== 0) return 0;
    seen |= key;
    const valueStart = at;
    at = skipValue(at, 0);
    if (at === 0) return 0;
    if (key !== 0 && !holds(key, valueStart, at)) return 0;
    at = skipSpace(at);
    const next = load<u8>(at);
    if (next === CLOSE_BRACE) break;
    if (next !== COMMA) return 0;
    if (places < MAX_PLACES) addPlace(at + 1 - start, seen);
    at = skipSpace(at + 1);
  }
  if (kind === OTHER) return 0;
  // The claim that the runner writes must be the only one.
  if (foreignEnd !== 0 && (seen & SEEN_CLAIMED) !== 0) return 0;
  if (kind === LOG && (seen & (SEEN_LEVEL | SEEN_MSG)) !== (SEEN_LEVEL | SEEN_MSG)) return 0;
  lacks = (SEEN_V | SEEN_TS | SEEN_RUN_ID) & ~seen;
  return at;
}

/** How many places of the last line are in this one as well, after the same bytes. */
function samePlaces(start: usize): i32 {
  let count = places;
  if (count === 0) return 0;
  const most: usize = load<u32>(PLACES + <usize>(count - 1) * PLACE_BYTES);
  let same: usize = 0;
  // No place is beyond the end of its line, so the bytes differ at the end of this one at the latest.
  while (same < most) {
    const mask = i8x16.bitmask(i8x16.eq(v128.load(lastStart + same), v128.load(start + same)));
    if (mask !== 0xffff) {
      same += ctz(~mask);
      break;
    }
    same += 16;
  }
  while (count > 0 && load<u32>(PLACES + <usize>(count - 1) * PLACE_BYTES) > <u32>same) count--;
  return count;
}

/** Notes what is known after a comma: its distance from the start of the line, the keys so far, the type, and where the id of another run is. */
function addPlace(distance: usize, seen: i32): void {
  const place = PLACES + <usize>places * PLACE_BYTES;
  places++;
  store<u32>(place, <u32>distance);
  store<i32>(place, seen, 4);
  store<i32>(place, kind, 8);
  store<u32>(place, foreignEnd === 0 ? 0 : <u32>(foreignEnd - lastStart), 12);
  store<u32>(place, foreignEnd === 0 ? 0 : <u32>(foreignStart - lastStart), 16);
}

/** Whether the value of a known key is valid for every frequent type. Notes the type, and the id of another run. */
function holds(key: i32, start: usize, end: usize): bool {
  switch (key) {
    case SEEN_V:
      return end - start === 1 && load<u8>(start) === 49;
    case SEEN_TYPE:
      kind = typeOf(start, end);
      return kind !== OTHER;
    case SEEN_TS:
      return isUtcTime(start, end);
    case SEEN_RUN_ID:
      if (load<u8>(start) !== QUOTE) return false;
      if (end - start !== runIdBytes || !isSame(start, RUN_ID, runIdBytes)) {
        foreignStart = start;
        foreignEnd = end;
      }
      return true;
    case SEEN_CLAIMED:
      return true;
    case SEEN_PCT:
      return isPercent(start, end);
    case SEEN_LEVEL:
      return isLevel(start, end);
    case SEEN_TRACE_ID:
      return isHexString(start, end, 32);
    case SEEN_SPAN_ID:
      return isHexString(start, end, 16);
    case SEEN_RECORD:
      return load<u8>(start) === OPEN_BRACE;
    default:
      return load<u8>(start) === QUOTE;
  }
}

/** The bit of a known key, 0 for a key without rules, CAREFUL for one that needs the full check. Texts are compared as little-endian numbers. */
function keyBit(at: usize, length: usize): i32 {
  switch (<i32>length) {
    case 1:
      return load<u8>(at) === 0x76 ? SEEN_V : 0;
    case 2:
      return load<u16>(at) === 0x7374 ? SEEN_TS : 0;
    case 3: {
      const key = load<u32>(at) & 0xffffff;
      if (key === 0x746370) return SEEN_PCT;
      if (key === 0x67736d) return SEEN_MSG;
      return key === 0x716573 ? CAREFUL : 0; // seq
    }
    case 4: {
      const key = load<u32>(at);
      if (key === 0x65707974) return SEEN_TYPE;
      return key === 0x70657473 ? SEEN_STEP : 0;
    }
    case 5:
      return load<u32>(at) === 0x6576656c && load<u8>(at + 4) === 0x6c ? SEEN_LEVEL : 0;
    case 6: {
      const key = load<u64>(at) & 0xffffffffffff;
      if (key === 0x64695f6e7572) return SEEN_RUN_ID;
      return key === 0x64726f636572 ? SEEN_RECORD : 0;
    }
    case 7: {
      const key = load<u64>(at) & 0xffffffffffffff;
      if (key === 0x64695f6e617073) return SEEN_SPAN_ID;
      // The runner counts what they say.
      return key === 0x7363697274656d ? CAREFUL : 0; // metrics
    }
    case 8:
      return load<u64>(at) === 0x64695f6563617274 ? SEEN_TRACE_ID : 0;
    case 14:
      return load<u64>(at) === 0x5f64656d69616c63 && load<u64>(at + 6) === 0x64695f6e75725f64
        ? SEEN_CLAIMED
        : 0;
    default:
      return 0;
  }
}

function typeOf(start: usize, end: usize): i32 {
  if (load<u8>(start) !== QUOTE) return OTHER;
  const text = load<u64>(start + 1);
  switch (<i32>(end - start)) {
    case 5:
      return (text & 0xffffff) === 0x676f6c ? LOG : OTHER;
    case 10:
      return text === 0x73736572676f7270 ? PROGRESS : OTHER;
    case 11:
      return text === 0x6165627472616568 && load<u8>(start + 9) === 0x74 ? HEARTBEAT : OTHER;
    default:
      return OTHER;
  }
}

function isLevel(start: usize, end: usize): bool {
  if (load<u8>(start) !== QUOTE) return false;
  const text = load<u64>(start + 1);
  switch (<i32>(end - start - 2)) {
    case 4: {
      const word = <u32>text;
      return word === 0x6f666e69 || word === 0x6e726177; // info, warn
    }
    case 5: {
      const word = text & 0xffffffffff;
      return word === 0x6775626564 || word === 0x726f727265; // debug, error
    }
    case 7:
      return (text & 0xffffffffffffff) === 0x676e696e726177; // warning
    case 8:
      return text === 0x6c61636974697263; // critical
    default:
      return false;
  }
}

function isSame(left: usize, right: usize, length: usize): bool {
  for (let i: usize = 0; i < length; i++) if (load<u8>(left + i) !== load<u8>(right + i)) return false;
  return true;
}

/** The end of the JSON value at `at`, or 0. A line end is no part of any value, so none is passed. */
function skipValue(at: usize, depth: i32): usize {
  const first = <u32>load<u8>(at);
  if (first === QUOTE) return skipString(at + 1);
  if (first === 45 || isDigit(first)) return skipNumber(at);
  switch (first) {
    case 0x74:
      return load<u32>(at) === 0x65757274 ? at + 4 : 0; // true
    case 0x6e:
      return load<u32>(at) === 0x6c6c756e ? at + 4 : 0; // null
    case 0x66:
      return load<u32>(at + 1) === 0x65736c61 ? at + 5 : 0; // false
    case OPEN_BRACE:
      return depth < MAX_DEPTH ? skipMembers(at, depth, CLOSE_BRACE) : 0;
    case 0x5b:
      return depth < MAX_DEPTH ? skipMembers(at, depth, 0x5d) : 0;
    default:
      return 0;
  }
}

function skipMembers(open: usize, depth: i32, close: u32): usize {
  let at = skipSpace(open + 1);
  if (load<u8>(at) === close) return at + 1;
  while (true) {
    if (close === CLOSE_BRACE) {
      if (load<u8>(at) !== QUOTE) return 0;
      at = skipString(at + 1);
      if (at === 0) return 0;
      at = skipSpace(at);
      if (load<u8>(at) !== COLON) return 0;
      at = skipSpace(at + 1);
    }
    at = skipValue(at, depth + 1);
    if (at === 0) return 0;
    at = skipSpace(at);
    if (load<u8>(at) === close) return at + 1;
    if (load<u8>(at) !== COMMA) return 0;
    at = skipSpace(at + 1);
  }
}

function skipString(from: usize): usize {
  let at = from;
  while (true) {
    at = plainEnd(at);
    const stop = load<u8>(at);
    if (stop === QUOTE) return at + 1;
    if (stop === BACKSLASH) at = skipEscape(at + 1);
    else at = stop >= 128 ? skipBeyondAscii(at) : 0;
    if (at === 0) return 0;
  }
}

/** The first byte that ends the plain part of a JSON string: a control character, quote, backslash, or one beyond ASCII. */
function plainEnd(from: usize): usize {
  let at = from;
  while (true) {
    const bytes = v128.load(at);
    // Bytes beyond ASCII are negative here.
    const special = v128.or(
      i8x16.lt_s(bytes, i8x16.splat(32)),
      v128.or(i8x16.eq(bytes, i8x16.splat(34)), i8x16.eq(bytes, i8x16.splat(92))),
    );
    const mask = i8x16.bitmask(special);
    if (mask !== 0) return at + ctz(mask);
    at += 16;
  }
}

function skipEscape(at: usize): usize {
  switch (load<u8>(at)) {
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
      for (let i: usize = 1; i <= 4; i++) if (!isHex(load<u8>(at + i))) return 0;
      return at + 5;
    default:
      return 0;
  }
}

/** The end of a character of UTF-8 with two to four bytes; 0 when it is not one: too long, a surrogate, beyond U+10FFFF. */
function skipBeyondAscii(at: usize): usize {
  const first = <u32>load<u8>(at);
  const second = <u32>load<u8>(at + 1);
  if (!isContinuation(second)) return 0;
  if (first >= 0xc2 && first <= 0xdf) return at + 2;
  if (!isContinuation(load<u8>(at + 2))) return 0;
  if (first >= 0xe0 && first <= 0xef) {
    if ((first === 0xe0 && second < 0xa0) || (first === 0xed && second > 0x9f)) return 0;
    return at + 3;
  }
  if (first < 0xf0 || first > 0xf4 || !isContinuation(load<u8>(at + 3))) return 0;
  if ((first === 0xf0 && second < 0x90) || (first === 0xf4 && second > 0x8f)) return 0;
  return at + 4;
}

function isContinuation(byte: u32): bool {
  return (byte & 0xc0) === 0x80;
}

function skipNumber(from: usize): usize {
  let at = load<u8>(from) === 45 ? from + 1 : from;
  if (load<u8>(at) === 48) at++;
  else if (isDigit(load<u8>(at))) at = skipDigits(at);
  else return 0;
  if (load<u8>(at) === 46) {
    if (!isDigit(load<u8>(at + 1))) return 0;
    at = skipDigits(at + 1);
  }
  if ((load<u8>(at) | 32) === 101) {
    at++;
    const sign = load<u8>(at);
    if (sign === 43 || sign === 45) at++;
    if (!isDigit(load<u8>(at))) return 0;
    at = skipDigits(at);
  }
  return at;
}

function skipDigits(from: usize): usize {
  let at = from;
  while (isDigit(load<u8>(at))) at++;
  return at;
}

function skipSpace(from: usize): usize {
  let at = from;
  let byte = load<u8>(at);
  while (byte === 32 || byte === 9 || byte === CR) byte = load<u8>(++at);
  return at;
}

/** `"2025-08-30T12:34:56Z"`, with up to 9 fractional digits. */
function isUtcTime(start: usize, end: usize): bool {
  const length = end - start - 2;
  if (length < 20 || length > 30 || load<u8>(start) !== QUOTE) return false;
  const at = start + 1;
  const bytes = v128.load(at);
  const separators = i8x16(0, 0, 0, 0, 45, 0, 0, 45, 0, 0, 84, 0, 0, 58, 0, 0);
  const isSeparator = i8x16(0, 0, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0);
  const areDigits = i8x16.le_u(i8x16.sub(bytes, i8x16.splat(48)), i8x16.splat(9));
  if (!i8x16.all_true(v128.bitselect(i8x16.eq(bytes, separators), areDigits, isSeparator))) return false;
  if (load<u8>(at + 16) !== COLON || !isDigit(load<u8>(at + 17)) || !isDigit(load<u8>(at + 18))) return false;
  if (!isInRange(at + 5, 1, 12) || !isInRange(at + 8, 1, 31) || !isInRange(at + 11, 0, 23)) return false;
  if (!isInRange(at + 14, 0, 59) || !isInRange(at + 17, 0, 59)) return false;
  if (load<u8>(at + length - 1) !== 90) return false;
  if (length === 20) return true;
  if (load<u8>(at + 19) !== 46 || length < 22) return false;
  for (let i: usize = 20; i < length - 1; i++) if (!isDigit(load<u8>(at + i))) return false;
  return true;
}

/** Whether the two digits at `at` are a number from `min` to `max`. */
function isInRange(at: usize, min: u32, max: u32): bool {
  const number = (<u32>load<u8>(at) - 48) * 10 + <u32>load<u8>(at + 1) - 48;
  return number >= min && number <= max;
}

/** `"0af7…"`: this many hex digits, in lower case. */
function isHexString(start: usize, end: usize, digits: usize): bool {
  if (end - start !== digits + 2 || load<u8>(start) !== QUOTE) return false;
  for (let at = start + 1; at < end - 1; at++) {
    const byte = <u32>load<u8>(at);
    if (!isDigit(byte) && byte - 97 > 5) return false;
  }
  return true;
}

/** A plain number from 0 to 100; other notations go to the full check. */
function isPercent(start: usize, end: usize): bool {
  let at = start;
  while (at < end && isDigit(load<u8>(at))) at++;
  const whole = at - start;
  if (whole === 0 || whole > 3) return false;
  if (whole === 3) return at === end && (load<u32>(start) & 0xffffff) === 0x303031;
  for (; at < end; at++) if (load<u8>(at) !== 46 && !isDigit(load<u8>(at))) return false;
  return true;
}

function isDigit(byte: u32): bool {
  return byte - 48 <= 9;
}

function isHex(byte: u32): bool {
  return isDigit(byte) || (byte | 32) - 97 <= 5;
}
