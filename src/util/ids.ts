const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARS = 9;
const RANDOM_CHARS = 7;

/** A run id, `r-` and 16 characters: the time in milliseconds, then random. Ids sort by time. */
export function newRunId(nowMs: number = Date.now()): string {
  let time = '';
  for (let rest = nowMs, i = 0; i < TIME_CHARS; i++) {
    time = ALPHABET[rest % 32]! + time;
    rest = Math.floor(rest / 32);
  }
  let chance = '';
  const bytes = randomBytes(RANDOM_CHARS);
  // Not `for of`: the first iterator of a typed array takes 0.2 ms, and each run makes an id.
  for (let i = 0; i < RANDOM_CHARS; i++) chance += ALPHABET[bytes[i]! % 32]!;
  return `r-${time}${chance}`;
}

/** The creation time in a run id, in milliseconds since 1970; NaN for another kind of id. */
export function timeOfRunId(runId: string): number {
  let ms = 0;
  for (const char of runId.slice(2, 2 + TIME_CHARS)) {
    const digit = ALPHABET.indexOf(char);
    if (digit === -1) return Number.NaN;
    ms = ms * 32 + digit;
  }
  return ms;
}

/** A W3C trace id: 32 hex digits. */
export function newTraceId(): string {
  return randomHex(16);
}

/** A W3C span id: 16 hex digits. */
export function newSpanId(): string {
  return randomHex(8);
}

function randomHex(bytes: number): string {
  return Buffer.from(randomBytes(bytes)).toString('hex');
}

/** From Web Crypto: `node:crypto` takes milliseconds to load. */
export function randomBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count));
}

/** What a program that a run starts learns about the trace (W3C Trace Context): the tool, or the supervisor of a child run. */
export function traceVariables(of: {
  traceId: string;
  spanId: string;
  isSampled: boolean;
  traceState: string | null;
}): Record<'TRACEPARENT' | 'TRACESTATE', string> {
  const flags = of.isSampled ? '01' : '00';
  // The variable of the caller must not remain beside another TRACEPARENT.
  return { TRACEPARENT: `00-${of.traceId}-${of.spanId}-${flags}`, TRACESTATE: of.traceState ?? '' };
}
