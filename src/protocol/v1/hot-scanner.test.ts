import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { acceptedLines, rejectedLines } from '../../../test/support/corpus.ts';
import { mutateBytes, ProtocolLines } from '../../../test/support/protocol-lines.ts';
import { SeededRandom } from '../../../test/support/seeded-random.ts';
import { checkMessage } from './check-message.ts';
import { type HotLine, HotScanner, LineCompleter } from './hot-scanner.ts';

const RUN = 'r-07k3m9x2pw4d8q1z';
const HOT_TYPES = ['progress', 'heartbeat', 'log'] as const;
const encoder = new TextEncoder();
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });
const NOW = '2026-01-02T03:04:05.678Z';
const scanner = new HotScanner(RUN);
const completer = new LineCompleter(RUN);

describe('what the scanner recognises', () => {
  it('every corpus line of the frequent types of this run, but for the spellings that it leaves to the careful way', () => {
    const left: string[] = [];
    let recognised = 0;
    for (const { subject, line } of acceptedLines()) {
      if (!HOT_TYPES.some((type) => type === subject)) continue;
      const ofRun = line.replace(/("run_id": ?)"[^"]*"/, `$1"${RUN}"`);
      const kind = scan(ofRun);
      if (kind === 'other') left.push(ofRun);
      else {
        assert.equal(kind, subject, ofRun);
        recognised++;
      }
    }
    assert.ok(recognised >= 24, `${recognised}`);
    // Python writes 100 per cent as 100.0, and isoformat() the zone as +00:00.
    assert.equal(left.length, 2, left.join('\n'));
    assert.match(left.join('\n'), /"pct": 100\.0,/);
    assert.match(left.join('\n'), /\+00:00"/);
  });

  it('messages with the spacing of json.dumps, of JSON.stringify, and with tabs', () => {
    const fields = { type: 'log', level: 'info', msg: 'x', v: 1, ts: '2025-08-30T12:34:56Z', run_id: RUN };
    const compact = JSON.stringify(fields);
    assert.equal(scan(compact), 'log');
    assert.equal(scan(compact.replaceAll('":', '": ').replaceAll(',"', ', "')), 'log');
    assert.equal(scan(compact.replaceAll('":', '"\t:\r').replaceAll(',"', ' ,\t"')), 'log');
  });

  it('messages with W3C trace and span ids, as the SDKs write them', () => {
    const line = heartbeat({ trace_id: '4bf92f3577b34da6a3ce929d0e0e4736', span_id: '00f067aa0ba902b7' });
    assert.equal(scan(line), 'heartbeat');
  });

  it('text beyond ASCII, raw and escaped', () => {
    assert.equal(scan(heartbeat({ step: 'übersetzen 🚀' })), 'heartbeat');
    assert.equal(
      scan(heartbeat({ step: 'x' }).replace('"x"', '"\\u00fcber\\ud83d\\ude80 \\ud800"')),
      'heartbeat',
    );
  });

  it('messages with gaps in their envelope, and of other runs, whose gaps are filled', () => {
    for (const [fields, filled] of [
      [{ v: undefined }, { v: 1 }],
      [{ ts: undefined }, { ts: NOW }],
      [{ run_id: undefined }, { run_id: RUN }],
      [
        { v: undefined, ts: undefined, run_id: undefined },
        { v: 1, ts: NOW, run_id: RUN },
      ],
      [{ run_id: 'r-other' }, { run_id: RUN, claimed_run_id: 'r-other' }],
      [
        { run_id: `${RUN}x`, ts: undefined, step: 'ü' },
        { run_id: RUN, ts: NOW, claimed_run_id: `${RUN}x` },
      ],
      [{ run_id: '' }, { run_id: RUN, claimed_run_id: '' }],
      [{ run_id: 'a"\\\n' }, { run_id: RUN, claimed_run_id: 'a"\\\n' }],
      [{ claimed_run_id: 'mine' }, {}],
    ] as const) {
      const line = heartbeat(fields);
      assert.equal(scan(line), 'heartbeat', line);
      const bytes = encoder.encode(line);
      assert.deepEqual(JSON.parse(filledText(bytes, 0, bytes.length)), { ...JSON.parse(line), ...filled });
    }
  });

  it('a run id with characters that JSON escapes, only in the spelling that means it', () => {
    const odd = new HotScanner('a\\n"é');
    const bytes = encoder.encode(heartbeat({ run_id: 'a\\n"é' }));
    assert.equal(odd.scan(bytes, 0, bytes.length), 'heartbeat');
    const newline = new HotScanner('a\\n');
    const other = encoder.encode(heartbeat({ run_id: 'a\n' }));
    assert.equal(newline.scan(other, 0, other.length), 'heartbeat');
    assert.notEqual(newline.foreignEnd, 0);
    const own = encoder.encode(heartbeat({ run_id: 'a\\n' }));
    assert.equal(newline.scan(own, 0, own.length), 'heartbeat');
    assert.equal(newline.foreignEnd, 0);
  });
});

describe('what the scanner leaves to the careful way', () => {
  it('every refused line of the corpus, but those that only lack what the runner adds', () => {
    let left = 0;
    for (const { message, at } of rejectedLines()) {
      const bytes = encoder.encode(JSON.stringify(message));
      const kind = scanner.scan(bytes, 0, bytes.length);
      if (kind === 'other') left++;
      else assert.equal(whatIsWrong(encoder.encode(filledText(bytes, 0, bytes.length)), kind), undefined, at);
    }
    assert.ok(left > 50, `${left}`);
  });

  it('every type that changes a state or has fields of its own', () => {
    for (const { subject, line, at } of acceptedLines()) {
      if (!HOT_TYPES.some((type) => type === subject)) assert.equal(scan(line), 'other', at);
    }
  });

  const lines: readonly (readonly [string, string])[] = [
    ['a run id that is no string', heartbeat({ run_id: 7 })],
    ['a message of another run that claims one already', heartbeat({ run_id: 'r-1', claimed_run_id: 'r-2' })],
    ['a message without a type', heartbeat({ type: undefined })],
    ['a sequence number, which only the runner gives', heartbeat({ seq: 7 })],
    ['a key that is spelled with an escape', heartbeat({}).replace('"v"', '"\\u0076"')],
    ['a second version', heartbeat({}).replace('{', '{"v":1,')],
    ['a second type', heartbeat({}).replace('{', '{"type":"heartbeat",')],
    ['a second type after the first, which would win', heartbeat({}).replace(/}$/, ',"type":"result"}')],
    ['a version that is only equal to 1', heartbeat({}).replace('"v":1', '"v":1.0')],
    ['a version that begins with 1', heartbeat({}).replace('"v":1', '"v":10')],
    ['a space before the object', ` ${heartbeat({})}`],
    ['a space after the object', `${heartbeat({})} `],
    ['two objects', heartbeat({}) + heartbeat({})],
    ['an object that does not end', heartbeat({}).slice(0, -1)],
    ['a comma before the end', heartbeat({}).replace(/}$/, ',}')],
    ['an empty object', '{}'],
    ['no object', '"progress"'],
    ['a list', `[${heartbeat({})}]`],
    ['an empty line', ''],
    ['a number with a leading zero', heartbeat({}).replace('"v":1', '"v":1,"n":01')],
    ['a number that ends with its point', heartbeat({}).replace('"v":1', '"v":1,"n":1.')],
    ['NaN', heartbeat({}).replace('"v":1', '"v":1,"n":NaN')],
    ['a raw control character in a string', heartbeat({}).replace('"v":1', '"v":1,"n":"\u0001"')],
    ['an escape that JSON does not know', heartbeat({}).replace('"v":1', '"v":1,"n":"\\x41"')],
    ['an escape that is cut off', heartbeat({}).replace('"v":1', '"v":1,"n":"\\u12"')],
    ['a byte order mark', `\ufeff${heartbeat({})}`],
    ['nesting that could exhaust the stack', heartbeat({}).replace('"v":1', `"v":1,"n":${'['.repeat(1e5)}`)],
    ['a letter beyond hex in a trace id', heartbeat({ trace_id: `${'0'.repeat(31)}g` })],
    ['a capital in a trace id', heartbeat({ trace_id: `${'0'.repeat(31)}A` })],
    ['a trace id that is too long', heartbeat({ trace_id: '0'.repeat(33) })],
    ['a span id that is too short', heartbeat({ span_id: '0'.repeat(15) })],
    ['a span id that is no string', heartbeat({ span_id: 1e17 })],
    ['deep nesting of objects', heartbeat({ n: nested(40) })],
    ['deep nesting', heartbeat({}).replace('"v":1', `"v":1,"n":${'['.repeat(99)}${']'.repeat(99)}`)],
  ];
  for (const [title, line] of lines) it(title, () => assert.equal(scan(line), 'other'));

  it('bytes that are no UTF-8, also in nested values and keys', () => {
    for (const bad of [[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]]) {
      for (const place of ['"v":1,"n":"?"', '"v":1,"n":[{"k":"?"}]', '"v":1,"n":{"?":1}', '"v":1,"?":1']) {
        const template = encoder.encode(heartbeat({}).replace('"v":1', place));
        const at = template.indexOf(63);
        const bytes = Uint8Array.of(...template.subarray(0, at), ...bad, ...template.subarray(at + 1));
        assert.equal(scanner.scan(bytes, 0, bytes.length), 'other', `${bad} in ${place}`);
      }
    }
  });

  it('a line that only the stale bytes behind it would complete', () => {
    const bytes = encoder.encode(
      heartbeat({ msg: 'x'.repeat(40), context: { a: [1, 2.5, true, null, 'é'] } }),
    );
    assert.equal(scanner.scan(bytes, 0, bytes.length), 'heartbeat');
    for (let end = 0; end < bytes.length; end++) assert.equal(scanner.scan(bytes, 0, end), 'other', `${end}`);
    for (let start = 1; start <= bytes.length; start++) {
      assert.equal(scanner.scan(bytes, start, bytes.length), 'other', `${start}`);
    }
  });
});

describe('the scanner against JSON.parse and the careful check', () => {
  it('accepts no line that they refuse or read otherwise, in 60,000 mutated lines', () => {
    const random = new SeededRandom(7);
    const lines = new ProtocolLines(random, RUN);
    const seen: Record<HotLine, number> = { progress: 0, heartbeat: 0, log: 0, other: 0 };
    let mutatedAndAccepted = 0;
    let filled = 0;
    for (let i = 0; i < 60_000; i++) {
      const plain = encoder.encode(withGaps(lines.next(), random));
      const mutations = random.pick([0, 0, 1, 1, 1, 2, 5]);
      const line = mutateBytes(plain, mutations, random);
      const { kind, text } = scanInside(line, random);
      seen[kind]++;
      if (kind === 'other') continue;
      if (text !== strictUtf8.decode(line)) filled++;
      if (mutations > 0) mutatedAndAccepted++;
      const wrong = whatIsWrong(encoder.encode(text), kind) ?? whatDiffers(line, text);
      if (wrong)
        assert.fail(`line ${i}, ${kind}: ${wrong}: ${JSON.stringify(Buffer.from(line).toString('latin1'))}`);
    }
    assert.ok(filled > 2_500, `${filled}`);
    for (const type of HOT_TYPES) assert.ok(seen[type] > 2_500, JSON.stringify(seen));
    assert.ok(
      seen.other > 15_000 && mutatedAndAccepted > 2_500,
      `${JSON.stringify(seen)} ${mutatedAndAccepted}`,
    );
  });

  it('would be caught if it accepted a wrong line', () => {
    assert.match(whatIsWrong(encoder.encode('{"v":1,}'), 'log') ?? '', /JSON/);
    assert.match(whatIsWrong(encoder.encode(heartbeat({ step: 5 })), 'heartbeat') ?? '', /step/);
    assert.match(whatIsWrong(encoder.encode(heartbeat({})), 'progress') ?? '', /type/);
    assert.match(whatIsWrong(encoder.encode(heartbeat({ run_id: 'r-1' })), 'heartbeat') ?? '', /run_id/);
    assert.match(whatIsWrong(Uint8Array.of(0xff), 'log') ?? '', /UTF-8/);
    assert.equal(whatIsWrong(encoder.encode(heartbeat({})), 'heartbeat'), undefined);
  });
});

function heartbeat(fields: Record<string, unknown>): string {
  return JSON.stringify({ v: 1, type: 'heartbeat', ts: '2025-08-30T12:34:56Z', run_id: RUN, ...fields });
}

function nested(depth: number): unknown {
  return depth === 0 ? 1 : { n: nested(depth - 1) };
}

function scan(line: string): HotLine {
  const bytes = encoder.encode(line);
  return scanner.scan(bytes, 0, bytes.length);
}

/** Scans the line where it will lie: in a larger buffer, before bytes of another line. */
function scanInside(line: Uint8Array, random: SeededRandom): { kind: HotLine; text: string } {
  const before = random.below(4);
  const behind = encoder.encode(random.pick(STALE));
  const buffer = new Uint8Array(before + line.length + behind.length);
  buffer.set(line, before);
  buffer.set(behind, before + line.length);
  const kind = scanner.scan(buffer, before, before + line.length);
  return { kind, text: kind === 'other' ? '' : filledText(buffer, before, before + line.length) };
}

/** The line that was just scanned, as it is stored but for its `seq`. */
function filledText(bytes: Uint8Array, start: number, end: number): string {
  if (scanner.lacks === 0 && scanner.foreignEnd === 0) return strictUtf8.decode(bytes.subarray(start, end));
  const line = completer.complete(bytes, start, end, scanner, NOW);
  return strictUtf8.decode(line.bytes.subarray(0, line.end));
}

/** The message without some of its envelope, or of another run, in one of three cases. */
function withGaps(line: string, random: SeededRandom): string {
  const field = random.pick(['v', 'ts', 'run_id', 'foreign', '', '', '', '', '', '']);
  if (field === '' || !line.startsWith('{')) return line;
  if (field === 'foreign') return line.replaceAll(RUN, 'r-0000000000000000');
  return line.replace(new RegExp(`"${field}": ?(?:1|"[^"]*"), ?`), '');
}

/** How a filled line differs from what the careful way makes of the message. */
function whatDiffers(line: Uint8Array, text: string): string | undefined {
  const message: Record<string, unknown> = JSON.parse(strictUtf8.decode(line));
  const careful: Record<string, unknown> = { v: 1, ts: NOW, run_id: RUN, ...message };
  if (careful['run_id'] !== RUN) Object.assign(careful, { claimed_run_id: careful['run_id'], run_id: RUN });
  return isDeepStrictEqual(JSON.parse(text), careful) ? undefined : `it became ${text}`;
}

const STALE = [
  '',
  '}',
  '"}',
  '\n',
  '\n{"v":1',
  ',"seq":1}',
  '"]}}',
  '5}',
  '\\"}',
  '\u0000',
  ' }',
  'é"}',
  '}'.repeat(40),
];

/** Why the line is not a message of this kind and run, or undefined. */
function whatIsWrong(line: Uint8Array, kind: HotLine): string | undefined {
  let text: string;
  let message: Record<string, unknown>;
  try {
    text = strictUtf8.decode(line);
  } catch {
    return 'not UTF-8';
  }
  try {
    message = JSON.parse(text);
  } catch {
    return 'not JSON';
  }
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return 'no object';
  const problem = checkMessage(message);
  if (problem !== undefined) return `${problem.field} must be ${problem.expected}`;
  if (message['type'] !== kind) return `type ${message['type']}`;
  return message['run_id'] === RUN ? undefined : `run_id ${message['run_id']}`;
}
