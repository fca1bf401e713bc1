import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { SeededRandom } from '../../../test/support/seeded-random.ts';
import { MAX_LINE_BYTES } from '../../protocol/jsonl.ts';
import { type Needle, needlesOf } from './needles.ts';
import { Redaction } from './redaction.ts';
import type { Redactor } from './redactor.ts';
import type { Secret } from './secret.ts';
import { type Span, spliced } from './spans.ts';

const SETS = 25;
const CASES_PER_SET = 100;

describe('a stream', () => {
  it('comes out the same however it is cut, and as a plain search would have it, in 2,500 cases', {
    timeout: 300_000,
  }, (t) => {
    const seed = Number(process.env.FUZZ_SEED ?? 952_955);
    t.diagnostic?.(`FUZZ_SEED=${seed}`);
    const random = new SeededRandom(seed);
    let marked = 0;
    for (let set = 0; set < SETS; set++) {
      const secrets = randomSecrets(random);
      const needles = needlesOf(secrets);
      const redaction = new Redaction(secrets);
      for (let each = 0; each < CASES_PER_SET; each++) {
        const text = randomText(random, needles);
        const json = random.chance(0.5);
        const whole = through(redaction.stream({ json }), [text]);
        const cut = through(redaction.stream({ json }), randomCuts(random, text));
        const about = `FUZZ_SEED=${seed}, set ${set}, case ${each}: ${JSON.stringify([secrets.map(String), text.toString('latin1')])}`;
        assert.equal(cut.toString('latin1'), whole.toString('latin1'), about);
        if (!json)
          assert.equal(whole.toString('latin1'), plainSearch(needles, text).toString('latin1'), about);
        for (const { bytes } of needles) assert.equal(whole.includes(bytes), false, about);
        if (json) checkLines(text, whole, about);
        if (!whole.equals(text)) marked++;
      }
    }
    assert.ok(marked > (SETS * CASES_PER_SET) / 10, `only ${marked} cases had a secret in them`);
  });

  it('passes whole lines at once, and holds back only what may become a secret', () => {
    const redactor = redactionOf('first line of it\nand the second one').stream({ json: false });
    assert.equal(
      String(redactor.push(Buffer.from('{"type":"progress"}\nstep fi'))),
      '{"type":"progress"}\nstep ',
    );
    assert.equal(redactor.holdsLine, false);
    assert.equal(String(redactor.push(Buffer.from('ve\n'))), 'five\n');
    assert.equal(String(redactor.end()), '');
  });

  it('of JSON holds back a line that has no end', () => {
    const redactor = redactionOf('correct horse').stream({ json: true });
    assert.equal(String(redactor.push(Buffer.from('{"a":1}\n{"b"'))), '{"a":1}\n');
    assert.equal(redactor.holdsLine, false);
    assert.equal(String(redactor.push(Buffer.from(':2}\n'))), '{"b":2}\n');
  });

  it('passes on a whole line on request, marks half a secret, and still finds the other half', () => {
    const redactor = redactionOf('begin-of-it\nshort end').stream({ json: false });
    assert.equal(String(redactor.push(Buffer.from('say: begin-of-it\n'))), 'say: ');
    assert.equal(redactor.holdsLine, true);
    assert.equal(String(redactor.release()), '[redacted:S]');
    assert.equal(redactor.holdsLine, false);
    assert.equal(String(redactor.push(Buffer.from('short e'))), '');
    assert.equal(String(redactor.push(Buffer.from('nd.\n'))), '[redacted:S].\n');
  });

  it('lets a line go unchanged that only by chance ends as a secret begins', () => {
    const redactor = redactionOf('}\nis how it begins').stream({ json: true });
    assert.equal(String(redactor.push(Buffer.from('{"type":"heartbeat"}\n'))), '');
    assert.equal(redactor.holdsLine, true);
    assert.equal(String(redactor.release()), '{"type":"heartbeat"}\n');
  });

  it('that ends within a secret does not end with most of it', () => {
    const redactor = redactionOf('correct horse battery').stream({ json: false });
    redactor.push(Buffer.from('it is correct horse batter'));
    assert.equal(String(redactor.end()), '[redacted:S]');
  });

  it('ends with a part of a secret that the tool does not have as if it were anything else', () => {
    for (const [text, shown] of [
      ['it is Zq7-SuperSec', 'it is Zq7-SuperSec'],
      ['it is Zq7-SuperSecret!', 'it is [redacted:S]!'],
      // A control: the tool has this one.
      ['it is correct horse', 'it is [redacted:T]'],
    ]) {
      const secrets = [
        { name: 'S', bytes: Buffer.from('Zq7-SuperSecret') },
        { name: 'T', bytes: Buffer.from('correct horse battery') },
      ];
      const redactor = new Redaction(secrets, new Set(['S'])).stream({ json: false });
      assert.equal(String(through(redactor, [Buffer.from(text!)])), shown);
    }
  });

  it('with a line that has no end is not held for ever', () => {
    const redactor = redactionOf('correct horse').stream({ json: true });
    let passed = 0;
    for (let i = 0; i < 40; i++) passed += redactor.push(Buffer.alloc(MAX_LINE_BYTES / 20, 'x')).length;
    assert.ok(passed > MAX_LINE_BYTES);
    assert.equal(
      String(redactor.push(Buffer.from('"correct horse"\n{"a":"correct horse"}\n'))).slice(-37),
      '"[redacted:S]"\n{"a":"[redacted:S]"}\n',
    );
  });
});

describe('a JSON line', () => {
  const lines: [why: string, secret: string, line: string, redacted: string][] = [
    ['with a text', 'correct horse', '{"a":"so correct horse!"}', '{"a":"so [redacted:S]!"}'],
    ['with a key', 'correct horse', '{"correct horse":1}', '{"[redacted:S]":1}'],
    [
      'with a number',
      '12345678',
      '{"a":12345678,"b":[12345678]}',
      '{"a":"[redacted:S]","b":["[redacted:S]"]}',
    ],
    ['with digits of a number', '12345678', '{"a":9123456781}', '{"a":"9[redacted:S]1"}'],
    ['with a key and its value', 'key":true', '{"my key":true}', '"[redacted:S]"'],
    [
      'with an object that is the secret',
      '{"k":"v-v"}',
      '{"a":{"k":"v-v"},"b":1}',
      '{"a":"[redacted:S]","b":1}',
    ],
    [
      'with characters escaped at will',
      'correct horse',
      '{"a":"c\\u006frrect\\u0020horse","b":1}',
      '{"a":"[redacted:S]","b":1}',
    ],
    ['with a backslash and no secret', 'correct horse', '{"a": "\\u0063"}', '{"a": "\\u0063"}'],
    [
      'with quotes in it',
      'say "please" to C:\\',
      '{"a":"say \\"please\\" to C:\\\\"}',
      '{"a":"[redacted:S]"}',
    ],
    ['that was not a secret', 'correct horse', '{"a":correct horse}', '{"a":[redacted:S]}'],
  ];
  for (const [why, secret, line, redacted] of lines) {
    it(`${why} becomes ${redacted}`, () => {
      const redactor = redactionOf(secret).stream({ json: true });
      assert.equal(String(redactor.push(Buffer.from(`${line}\n`))), `${redacted}\n`);
    });
  }
});

describe('a secret that Python shows', () => {
  const secrets = [
    `it's "both" quotes`,
    `only 'single' ones`,
    `only "double" ones`,
    `back\\slash and 'both' "quotes"`,
    `tab\tline\nend\rbell\u0007'"`,
    `grüße "und" 'mehr' \u00a0\u200b😀`,
  ];
  const shown = (secret: string): string[] => {
    const script = `import json, sys
s = sys.stdin.buffer.read().decode()
print(json.dumps([repr(s), ascii(s), repr(s.encode()), repr({"a": s}), repr("'\\"" + s)]))`;
    return JSON.parse(spawnSync('python3', ['-c', script], { input: secret, encoding: 'utf8' }).stdout);
  };

  for (const secret of secrets)
    it(`is redacted in each way of writing it: ${JSON.stringify(secret)}`, () => {
      const forms = shown(secret);
      assert.equal(forms.length, 5);
      for (const form of forms)
        assert.match(
          redactionOf(secret).text(form),
          /^(b?['"]|\{'a': ['"]|'\\'")\[redacted:S\]['"]\}?$/,
          form,
        );
    });
});

describe('a secret in base64 of several lines', () => {
  // Long enough for three lines of 64 characters, and for two of 76.
  const secret = 'correct horse battery staple '.repeat(4);
  const lineEnds = { LF: '\n', CRLF: '\r\n', 'an escaped LF': '\\n', 'an escaped CRLF': '\\r\\n' };
  it('is redacted within something longer, wherever it begins', () => {
    const short = 'correct horse battery staple: Tr0ub4dor&3';
    for (const [name, lineEnd] of Object.entries(lineEnds))
      for (const width of [64, 76])
        for (let before = 0; before < 130; before++) {
          const whole = Buffer.from(`${'x'.repeat(before)}${short}${'y'.repeat(90)}`).toString('base64');
          const text = whole.match(new RegExp(`.{1,${width}}`, 'g'))!.join(lineEnd);
          const redacted = String(through(redactionOf(short).stream({ json: false }), [Buffer.from(text)]));
          assert.match(redacted, /\[redacted:S\]/, `${name}, ${width}, ${before}`);
          const left = Buffer.from(redacted.replace(/\[redacted:S\]/g, '').replaceAll(lineEnd, ''), 'base64');
          assert.equal(String(left).includes('horse'), false, `${name}, ${width}, ${before}`);
        }
  });

  for (const [name, lineEnd] of Object.entries(lineEnds)) {
    for (const width of [64, 76]) {
      it(`is redacted with ${name} after ${width} characters`, () => {
        const encoded = Buffer.from(secret).toString('base64');
        const text = encoded.match(new RegExp(`.{1,${width}}`, 'g'))!.join(lineEnd);
        const redacted = through(redactionOf(secret).stream({ json: false }), [Buffer.from(`<${text}>`)]);
        assert.equal(String(redacted), '<[redacted:S]>');
      });
    }
  }
});

function redactionOf(value: string): Redaction {
  return new Redaction([{ name: 'S', bytes: Buffer.from(value) }]);
}

function through(redactor: Redactor, chunks: readonly Buffer[]): Buffer {
  const out = chunks.map((chunk) => Buffer.from(redactor.push(Buffer.from(chunk))));
  return Buffer.concat([...out, redactor.end()]);
}

/** What was JSON before is JSON after. */
function checkLines(before: Buffer, after: Buffer, about: string): void {
  const [from, to] = [before, after].map((bytes) => bytes.toString('utf8').split('\n'));
  if (from!.length !== to!.length) return;
  for (const [index, line] of from!.entries()) {
    if (line.startsWith('{') && isJson(line)) assert.ok(isJson(to![index]!), `${about}: ${to![index]}`);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function randomSecrets(random: SeededRandom): Secret[] {
  return Array.from({ length: 1 + random.below(3) }, (_, index) => {
    // Few different characters make secrets that overlap with each other and with themselves.
    const alphabet = random.pick(['ab', 'ab\n', 'xyz"\\', '12', 'aß \n', 'abcdefghijklmnop-_/+=&%$\'"']);
    const chars = Array.from({ length: 9 + random.below(20) }, () => random.pick([...alphabet]));
    return { name: `S${index}`, bytes: Buffer.from(`#${chars.join('')}#`) };
  });
}

/** Secrets in all their forms, beginnings of them, and what else a tool may write. */
function randomText(random: SeededRandom, needles: readonly Needle[]): Buffer {
  const pieces = Array.from({ length: random.below(8) }, () => {
    const { bytes } = random.pick(needles);
    if (random.chance(0.2)) return Buffer.concat([Buffer.from('{"n":12,"a":"'), bytes, Buffer.from('"}\n')]);
    if (random.chance(0.4)) return bytes;
    if (random.chance(0.4)) return bytes.subarray(random.below(3), 1 + random.below(bytes.length));
    return Buffer.from(
      random.pick(['\n', '{"a":"', '"}\n', '{"n":', 'ab', '#a', 'plain text', '\\', '\u00df', '\xff']),
      'latin1',
    );
  });
  return Buffer.concat(pieces);
}

function randomCuts(random: SeededRandom, text: Buffer): Buffer[] {
  const chunks: Buffer[] = [];
  const longest = random.pick([1, 3, 20, 200]);
  for (let at = 0; at < text.length; ) {
    const size = 1 + random.below(longest);
    chunks.push(text.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

/** What a redactor does, without streaming and without an automaton: a second opinion. */
function plainSearch(needles: readonly Needle[], text: Buffer): Buffer {
  const found: Span[] = [];
  for (const { name, bytes } of needles) {
    for (let at = text.indexOf(bytes); at !== -1; at = text.indexOf(bytes, at + 1)) {
      found.push({ from: at, to: at + bytes.length, name });
    }
  }
  found.sort((a, b) => a.from - b.from || b.to - a.to);
  const half = halfAtEnd(needles, text);
  if (half !== undefined) found.splice(found.findIndex(({ from }) => from >= half.from) >>> 0, 0, half);
  const merged: Span[] = [];
  for (const span of found) {
    const last = merged.at(-1);
    if (last !== undefined && span.from < last.to) last.to = Math.max(last.to, span.to);
    else merged.push({ ...span });
  }
  return spliced(text, merged);
}

/** The longest end of the text that is the beginning of a needle, if it is long enough not to match by chance. */
function halfAtEnd(needles: readonly Needle[], text: Buffer): Span | undefined {
  for (let from = 0; from <= text.length - 8; from++) {
    const end = text.subarray(from);
    const needle = needles.find(({ bytes }) => bytes.subarray(0, end.length).equals(end));
    if (needle !== undefined) return { from, to: text.length, name: needle.name };
  }
  return undefined;
}
