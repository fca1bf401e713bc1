import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SeededRandom } from '../../test/support/seeded-random.ts';
import { LineReader, type LineTaker, MAX_LINE_BYTES } from './jsonl.ts';

interface Line {
  bytes: Uint8Array;
  cut: boolean;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const MIB = 1_048_576;

describe('lines', () => {
  it('end with LF or CRLF, and the last one may have no ending', () => {
    assert.deepEqual(texts(['a\nbc\r\nd']), ['a', 'bc', 'd']);
  });

  it('lose one CR at their end and no other', () => {
    assert.deepEqual(texts(['a\rb\r\r\n\rc\n']), ['a\rb\r', '\rc']);
    assert.deepEqual(texts(['a\r']), ['a']);
  });

  it('are dropped when they are empty, with or without a CR', () => {
    assert.deepEqual(texts(['\n\r\n\n', '\r', '\n', '\r']), []);
    assert.deepEqual(texts([]), []);
    assert.deepEqual(texts(['', '', '']), []);
  });

  it('may have CR and LF in different chunks, with empty chunks in between', () => {
    assert.deepEqual(texts(['a\r', '', '\n', '', 'b', '\r', '\n']), ['a', 'b']);
    assert.deepEqual(texts(['a\r', 'b\n']), ['a\rb']);
  });

  it('keep bytes that are no UTF-8, and NUL', () => {
    const bytes = Uint8Array.from([0xff, 0, 0xc3, 10, 0xe2, 0x82, 13, 10, 0]);
    for (let at = 0; at <= bytes.length; at++) {
      const lines = read([bytes.subarray(0, at), bytes.subarray(at)]);
      assert.deepEqual(
        lines.map((line) => [...line.bytes]),
        [[0xff, 0, 0xc3], [0xe2, 0x82], [0]],
      );
    }
  });

  it('are found in a million blank ones', () => {
    const blank = new Uint8Array(1_000_000).fill(10);
    assert.deepEqual(texts([blank, 'x', blank, 'y', blank]), ['x', 'y']);
  });

  it('come after the end as well when the stream continues', () => {
    const lines: string[] = [];
    const reader = new LineReader((bytes, start, end) =>
      lines.push(decoder.decode(bytes.subarray(start, end))),
    );
    reader.push(encoder.encode('a'));
    reader.end();
    reader.end();
    reader.push(encoder.encode('b\n'));
    assert.deepEqual(lines, ['a', 'b']);
  });
});

describe('long lines', () => {
  it('of exactly 1 MiB are whole, with every line ending and in one chunk or two', () => {
    for (const ending of ['', '\n', '\r\n']) {
      for (const split of [0, 1, MIB - 1, MIB, MIB + 1, MIB + 2]) {
        const lines = read(splitAt(bytesOf('x'.repeat(MIB) + ending), split));
        assert.deepEqual(sizes(lines), [[MIB, false]], `${JSON.stringify(ending)} at ${split}`);
      }
    }
    assert.equal(MAX_LINE_BYTES, MIB);
  });

  it('of one byte more are cut to 1 MiB and marked, and the next line is whole', () => {
    for (const ending of ['\n', '\r\n']) {
      for (const split of [0, 1, MIB - 1, MIB, MIB + 1, MIB + 2, MIB + 3, MIB + 5]) {
        const lines = read(splitAt(bytesOf(`${'x'.repeat(MIB + 1)}${ending}next\n`), split));
        assert.deepEqual(
          sizes(lines),
          [
            [MIB, true],
            [4, false],
          ],
          `${JSON.stringify(ending)} at ${split}`,
        );
        assert.equal(decoder.decode(lines[1]?.bytes), 'next');
      }
    }
    assert.deepEqual(sizes(read([bytesOf('x'.repeat(MIB + 1))])), [[MIB, true]]);
  });

  it('are cut when a CR stands at the limit but does not end the line', () => {
    for (const split of [0, MIB, MIB + 1, MIB + 2]) {
      const lines = read(splitAt(bytesOf(`${'x'.repeat(MIB)}\rx\n`), split));
      assert.deepEqual(sizes(lines), [[MIB, true]], `at ${split}`);
    }
  });

  it('that never end are held in no more than the limit', () => {
    const chunk = new Uint8Array(65_536).fill(120);
    let held = 0;
    let lines = 0;
    const reader = new LineReader((bytes, start, end, cut) => {
      lines++;
      held = bytes.buffer.byteLength;
      assert.deepEqual([start, end, cut], [0, MIB, true]);
    });
    for (let bytes = 0; bytes < 50_000_000; bytes += chunk.length) reader.push(chunk);
    assert.equal(lines, 0);
    reader.end();
    assert.equal(lines, 1);
    assert.ok(held <= MIB + 1, `${held} bytes held`);
  });

  it('of a reader with a limit of its own are cut there', () => {
    assert.deepEqual(sizes(read([bytesOf('abcd\nabcde\n\nab\n')], 4)), [
      [4, false],
      [4, true],
      [2, false],
    ]);
  });
});

describe('any chunking', () => {
  it('gives the lines that one chunk gives', () => {
    const random = new SeededRandom(31);
    let lines = 0;
    let cut = 0;
    for (let round = 0; round < 4_000; round++) {
      const maxBytes = random.pick([1, 2, 3, 8, 64, MAX_LINE_BYTES]);
      const stream = randomStream(random);
      const whole = read([stream], maxBytes);
      const pieces = read(randomSplit(stream, random), maxBytes);
      assert.deepEqual(pieces, whole, `round ${round}, limit ${maxBytes}: ${JSON.stringify([...stream])}`);
      assert.deepEqual(whole, reference(stream, maxBytes), `round ${round}, against the plain way`);
      lines += whole.length;
      cut += whole.filter((line) => line.cut).length;
    }
    assert.ok(lines > 20_000 && cut > 2_000, `${lines} lines, ${cut} cut`);
  });

  it('of real sizes gives the lines that one chunk gives', () => {
    const random = new SeededRandom(32);
    const parts = Array.from({ length: 60 }, () => {
      const length = random.pick([0, 1, 80, 4095, 4096, 4097, 70_000, MIB - 1, MIB, MIB + 1, MIB + 2]);
      return `${'x'.repeat(length)}${random.pick(['\n', '\r\n'])}`;
    });
    const stream = bytesOf(parts.join(''));
    const whole = sizes(read([stream]));
    assert.ok(whole.some(([, cut]) => cut) && whole.some(([size, cut]) => size === MIB && !cut));
    for (const size of [1009, 65_536, 262_144, MIB + 1]) {
      const chunks: Uint8Array[] = [];
      for (let at = 0; at < stream.length; at += size) chunks.push(stream.subarray(at, at + size));
      assert.deepEqual(sizes(read(chunks)), whole, `chunks of ${size}`);
    }
  });
});

describe('what is not kept elsewhere', () => {
  it('is every byte of the stream, whatever its lines are, when nothing is kept', () => {
    const random = new SeededRandom(33);
    for (let round = 0; round < 2_000; round++) {
      const maxBytes = random.pick([1, 3, 8, 64]);
      const stream = randomStream(random);
      for (const keepsEmpty of [true, false]) {
        const { unkept } = readAndKeep(randomSplit(stream, random), {
          maxBytes,
          keepsEmpty,
          keeps: () => false,
        });
        assert.deepEqual(unkept, [...stream], `round ${round}`);
      }
    }
  });

  it('is what the lines are between those that are kept, with their endings and beyond the limit', () => {
    const random = new SeededRandom(34);
    let kept = 0;
    for (let round = 0; round < 2_000; round++) {
      const stream = randomStream(random);
      const keeps = (line: Uint8Array) => line.includes(97);
      const expected: number[] = [];
      for (let from = 0; from < stream.length; ) {
        const end = stream.indexOf(10, from) + 1 || stream.length;
        const whole = stream.subarray(from, end);
        const text = whole.subarray(0, 8);
        const isCut = reference(whole, 8).some(({ cut }) => cut);
        if (isCut || !keeps(text)) expected.push(...whole);
        else kept++;
        from = end;
      }
      const options = { maxBytes: 8, keepsEmpty: false, keeps };
      const { unkept } = readAndKeep(randomSplit(stream, random), options);
      assert.deepEqual(unkept, expected, `round ${round}: ${JSON.stringify([...stream])}`);
    }
    assert.ok(kept > 2_000, `${kept}`);
  });
});

describe('a taker of many lines', () => {
  it('gets each whole line of a chunk that it does not leave, once, and the reader gets the others in their order', () => {
    const random = new SeededRandom(35);
    let taken = 0;
    for (let round = 0; round < 2_000; round++) {
      const stream = randomStream(random);
      const order: string[] = [];
      let chunk: Uint8Array = new Uint8Array();
      const taker: LineTaker = {
        begin(bytes) {
          chunk = bytes;
        },
        take(from) {
          let at = from;
          for (;;) {
            const end = chunk.indexOf(10, at);
            // Takes lines that begin with an a, as many as it finds.
            if (end === -1 || chunk[at] !== 97 || end === at) return at;
            const stop = chunk[end - 1] === 13 ? end - 1 : end;
            order.push(decoder.decode(chunk.subarray(at, stop)));
            taken++;
            at = end + 1;
          }
        },
      };
      const reader = new LineReader(
        (bytes, start, end) => order.push(decoder.decode(bytes.subarray(start, end))),
        undefined,
        { taker },
      );
      for (const part of randomSplit(stream, random)) reader.push(part.slice());
      reader.end();
      assert.deepEqual(order, texts([stream]), `round ${round}`);
    }
    assert.ok(taken > 500, `${taken}`);
  });
});

/** Reads with a rule of what is kept, and returns the bytes that are not. */
function readAndKeep(
  chunks: readonly Uint8Array[],
  options: { maxBytes: number; keepsEmpty: boolean; keeps: (line: Uint8Array) => boolean },
): { unkept: number[] } {
  const unkept: number[] = [];
  const reader = new LineReader(
    (bytes, start, end, cut) => !cut && options.keeps(bytes.subarray(start, end)),
    options.maxBytes,
    {
      keepsEmpty: options.keepsEmpty,
      unkept: (bytes, start, end) => unkept.push(...bytes.subarray(start, end)),
    },
  );
  for (const chunk of chunks) {
    const own = chunk.slice();
    reader.push(own);
    own.fill(63);
  }
  reader.end();
  return { unkept };
}

function read(chunks: readonly Uint8Array[], maxBytes?: number): Line[] {
  const lines: Line[] = [];
  const reader = new LineReader((bytes, start, end, cut) => {
    lines.push({ bytes: bytes.slice(start, end), cut });
  }, maxBytes);
  for (const chunk of chunks) {
    // Poisoned afterwards: a reader that kept a view of the caller's buffer would give other bytes.
    const own = chunk.slice();
    reader.push(own);
    own.fill(63);
  }
  reader.end();
  return lines;
}

function texts(chunks: readonly (string | Uint8Array)[]): string[] {
  return read(chunks.map(bytesOf)).map((line) => decoder.decode(line.bytes));
}

function sizes(lines: readonly Line[]): [number, boolean][] {
  return lines.map((line) => [line.bytes.length, line.cut]);
}

function bytesOf(text: string | Uint8Array): Uint8Array {
  return typeof text === 'string' ? encoder.encode(text) : text;
}

function splitAt(bytes: Uint8Array, at: number): Uint8Array[] {
  return [bytes.subarray(0, at), bytes.subarray(at)];
}

function randomStream(random: SeededRandom): Uint8Array {
  const bytes = Array.from({ length: random.below(120) }, () =>
    random.pick([10, 10, 13, 13, 97, 98, 0, 255]),
  );
  if (random.chance(0.3)) bytes.splice(random.below(bytes.length + 1), 0, ...Array(70).fill(99));
  return Uint8Array.from(bytes);
}

function randomSplit(stream: Uint8Array, random: SeededRandom): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  const longest = random.pick([1, 2, 3, 10, 100]);
  for (let at = 0; at < stream.length; ) {
    const length = random.below(longest + 1);
    chunks.push(stream.subarray(at, at + length));
    at += length;
  }
  return chunks;
}

/** The rules of contract §1 in the plainest way, without an eye to memory. */
function reference(stream: Uint8Array, maxBytes: number): Line[] {
  const text = Array.from(stream, (byte) => String.fromCharCode(byte)).join('');
  return text
    .split('\n')
    .map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
    .filter((line) => line !== '')
    .map((line) => ({
      bytes: Uint8Array.from(line.slice(0, maxBytes), (char) => char.charCodeAt(0)),
      cut: line.length > maxBytes,
    }));
}
