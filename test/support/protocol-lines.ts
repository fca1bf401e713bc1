import type { SeededRandom } from './seeded-random.ts';

const encoder = new TextEncoder();

/**
 * Lines that look like a tool's frequent messages, in the many spellings of JSON. Half of them hold; in the others any
 * part may be one that JSON or the protocol refuses.
 */
export class ProtocolLines {
  readonly #random: SeededRandom;
  readonly #runId: string;
  #wild = false;

  constructor(random: SeededRandom, runId: string) {
    this.#random = random;
    this.#runId = runId;
  }

  next(): string {
    this.#wild = this.#random.chance(0.5);
    const members = this.#members();
    if (this.#random.chance(0.5)) shuffle(members, this.#random);
    const body = members.map(([key, text]) => {
      return `${this.#space()}${this.#spelled(key)}${this.#space()}:${this.#space()}${text}${this.#space()}`;
    });
    return `{${body.join(',')}}`;
  }

  #members(): [string, string][] {
    const random = this.#random;
    const type = random.pick(['progress', 'heartbeat', 'log']);
    const members: [string, string][] = [
      ['v', this.#slips() ? this.#number() : '1'],
      ['type', this.#slips() ? this.#string() : `"${type}"`],
      ['ts', `"${this.#one(TIMES, WRONG_TIMES)}"`],
      ['run_id', this.#slips() ? this.#string() : `"${this.#runId}"`],
    ];
    if (type === 'log' || random.chance(0.5)) members.push(['msg', this.#stringOrSlip()]);
    if (type === 'log') members.push(['level', this.#one(LEVELS, WRONG_LEVELS)]);
    if (random.chance(0.5)) members.push(['step', this.#stringOrSlip()]);
    if (random.chance(0.5)) members.push(['pct', this.#slips() ? this.#value(0) : this.#percent()]);
    if (random.chance(0.3)) members.push(['trace_id', `"${this.#hex(32)}"`]);
    if (random.chance(0.3)) members.push(['span_id', `"${this.#hex(16)}"`]);
    if (this.#slips()) members.push(random.pick(members));
    while (random.chance(0.4)) members.push([this.#one(KEYS, WRONG_KEYS), this.#value(0)]);
    return members;
  }

  #value(depth: number): string {
    const random = this.#random;
    const kind = random.below(depth > 3 ? 5 : 8);
    if (kind < 2) return this.#string();
    if (kind < 4) return this.#number();
    if (kind === 4) return this.#one(WORDS, WRONG_WORDS);
    if (kind === 5) {
      const levels = this.#one([1, 5, 31, 32], [33, 40]);
      return '['.repeat(levels) + ']'.repeat(levels);
    }
    const items = Array.from({ length: random.below(3) }, () => this.#value(depth + 1));
    if (kind === 6) return `[${items.join(', ')}]`;
    return `{${items.map((item) => `${this.#string()} :${item}`).join(',')}}`;
  }

  #string(): string {
    let text = '';
    while (this.#random.chance(0.7)) text += this.#one(STRING_PARTS, WRONG_STRING_PARTS);
    return `"${text}"`;
  }

  #stringOrSlip(): string {
    return this.#slips() ? this.#value(0) : this.#string();
  }

  #number(): string {
    return this.#one(NUMBERS, WRONG_NUMBERS);
  }

  #percent(): string {
    if (this.#random.chance(0.3)) return this.#one(PERCENTS, WRONG_PERCENTS);
    const whole = this.#random.below(this.#wild ? 120 : 100);
    return `${whole}${this.#random.pick(['', '.0', '.25', '.999999999999999999'])}`;
  }

  #hex(digits: number): string {
    const alphabet = this.#slips() ? '0123456789abcdefABCg:`@/' : '0123456789abcdef';
    const length = this.#slips() ? digits + this.#random.pick([-1, 1]) : digits;
    return Array.from({ length }, () => alphabet[this.#random.below(alphabet.length)]).join('');
  }

  #spelled(key: string): string {
    if (key === '' || !this.#slips()) return `"${key}"`;
    return `"\\u00${key.charCodeAt(0).toString(16).padStart(2, '0')}${key.slice(1)}"`;
  }

  #space(): string {
    return this.#random.chance(0.1) ? this.#one([' ', '\t', '\r', '  '], ['\n', '\u00a0', '\f', '\v']) : '';
  }

  #one<T>(right: readonly T[], wrong: readonly T[]): T {
    return this.#random.pick(this.#slips() ? wrong : right);
  }

  #slips(): boolean {
    return this.#wild && this.#random.chance(0.05);
  }
}

/** The line with so many bytes changed, put in, taken out or repeated. */
export function mutateBytes(line: Uint8Array, mutations: number, random: SeededRandom): Uint8Array {
  const bytes = [...line];
  for (let i = 0; i < mutations; i++) {
    const at = random.below(bytes.length + 1);
    const byte = random.chance(0.5) ? random.below(256) : random.pick(STRUCTURAL);
    switch (random.below(7)) {
      case 0:
      case 1:
        bytes[at] = byte;
        break;
      case 2:
        bytes.splice(at, 0, byte);
        break;
      case 3:
        bytes.splice(at, 1);
        break;
      case 4:
        bytes.splice(at, 0, ...bytes.slice(at, at + random.below(12)));
        break;
      case 5:
        bytes.splice(at, 0, ...encoder.encode(random.pick([...STRING_PARTS, ...WRONG_STRING_PARTS])));
        break;
      default:
        if (random.chance(0.3)) bytes.length = at;
    }
  }
  return Uint8Array.from(bytes);
}

function shuffle<T>(items: T[], random: SeededRandom): void {
  for (let i = items.length - 1; i > 0; i--) {
    const other = random.below(i + 1);
    [items[i], items[other]] = [items[other] as T, items[i] as T];
  }
}

const STRUCTURAL = [...encoder.encode('{}[]":,\\0123456789.eE+-tfnu/ \t\r\n\u0000\u001f\u007f')];
const KEYS = ['', 'a', 'context', '__proto__', 'constructor', 'V', 'pct ', 'run_ID', 'a_key_longer_than_any'];
const WRONG_KEYS = ['seq', 'données', 'a\\u0062', 'v', 'type', 'ts', 'run_id', 'step', 'pct', 'msg', 'level'];
const LEVELS = ['"info"', '"warn"', '"warning"', '"critical"', '"error"', '"debug"'];
const WRONG_LEVELS = ['"Info"', '"trace"', '""', '20', '"info "', '"inf\\u006f"'];
const WORDS = ['true', 'false', 'null', '[]', '{}', '[ ]', '{\t}'];
const WRONG_WORDS = [
  'undefined',
  'tru',
  'True',
  'nul',
  'falsey',
  '[,]',
  '{,}',
  '[1,]',
  '{"a":1,}',
  "'a'",
  '/**/1',
];
const TIMES = [
  '2025-08-30T12:34:56Z',
  '2025-08-30T12:34:56.789Z',
  '2024-02-29T23:59:59.123456789Z',
  '2025-12-31T00:00:00Z',
];
const WRONG_TIMES = [
  '2025-08-30T12:34:56+00:00',
  '2025-08-30T12:34:56.Z',
  '2025-13-30T12:34:56Z',
  '2025-00-30T12:34:56Z',
  '2025-10-00T12:34:56Z',
  '2025-10-32T12:34:56Z',
  '2025-10-31T24:34:56Z',
  '2025-10-31T23:60:56Z',
  '2025-10-31T23:59:60Z',
  '2025-08-30T12:34:56z',
  '2025-08-30t12:34:56Z',
  '2025-08-30T12:34:56.1234567890Z',
  '',
];
const PERCENTS = ['0', '0.0', '100', '99.99'];
const WRONG_PERCENTS = [
  '-0',
  '100.0',
  '100.1',
  '1e2',
  '00',
  '007',
  '0.5.5',
  '1E1',
  '-1',
  '101',
  '999',
  '.5',
  '"5"',
];
const NUMBERS = [
  '0',
  '-0',
  '1',
  '1.0',
  '1e400',
  '-1e400',
  '1e-400',
  '0.1e1',
  '9007199254740993',
  '2E+5',
  '10',
];
const WRONG_NUMBERS = [
  '01',
  '-',
  '1.',
  '.1',
  '1e',
  '1e+',
  'NaN',
  'Infinity',
  '0x10',
  '1_0',
  '+1',
  '--1',
  '1.e5',
  '١',
];
const STRING_PARTS = [
  'a',
  'word ',
  'é',
  '🚀',
  '\u2028',
  '\u007f',
  '\ufeff',
  '\\n',
  '\\"',
  '\\\\',
  '\\/',
  '\\u0041',
  '\\ud83d\\ude80',
  '\\ud800',
  "{'v':2}",
];
const WRONG_STRING_PARTS = [
  '\u0001',
  '\u0000',
  '\u001f',
  '\n',
  '\t',
  '\\u00',
  '\\u00g0',
  '\\x41',
  '\\',
  '"',
  '{"v":2}',
];
