import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { acceptedLines, rejectedLines } from '../../../test/support/corpus.ts';
import { mutateBytes, ProtocolLines } from '../../../test/support/protocol-lines.ts';
import { SeededRandom } from '../../../test/support/seeded-random.ts';
import { ChunkScanner } from './chunk-scanner.ts';
import { HotScanner, LineCompleter } from './hot-scanner.ts';

const RUN = 'r-07k3m9x2pw4d8q1z';
const NOW = '2026-01-02T03:04:05.678Z';
const MAX_SEQ = Number.MAX_SAFE_INTEGER;
const encoder = new TextEncoder();

describe('the scanner of chunks and the scanner of lines', () => {
  it('take the same lines of the corpus, and make the same of them', () => {
    const lines = [
      ...acceptedLines().map(({ line }) => line),
      ...acceptedLines().map(({ line }) => line.replace(/("run_id": ?)"[^"]*"/, `$1"${RUN}"`)),
      ...rejectedLines().map(({ message }) => JSON.stringify(message)),
    ];
    const { taken, left } = compare(lines.map((line) => encoder.encode(line)));
    assert.ok(taken > 50 && left > 100, `${taken} taken, ${left} left`);
  });

  it('take the same of 30,000 mutated lines, and make the same of them', () => {
    const random = new SeededRandom(19);
    const source = new ProtocolLines(random, RUN);
    let taken = 0;
    let left = 0;
    for (let chunk = 0; chunk < 30; chunk++) {
      const lines = Array.from({ length: 1000 }, () => {
        const plain = encoder.encode(withGaps(source.next(), random));
        return mutateBytes(plain, random.pick([0, 0, 0, 1, 1, 2, 5]), random);
      });
      const counts = compare(lines.flatMap(splitAtNewlines), { endings: random });
      taken += counts.taken;
      left += counts.left;
    }
    assert.ok(taken > 7_500 && left > 7_500, `${taken} taken, ${left} left`);
  });

  it('take the same where any byte of a line is any other byte', () => {
    const line = `{"v":1,"type":"log","ts":"2025-08-30T12:34:56.789Z","run_id":"${RUN}","level":"info","msg":"é\\u00e9🚀","pct":99.5,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","n":[-1.5e+3,true,null,{"k":false}]}`;
    const plain = encoder.encode(line);
    const lines: Uint8Array[] = [];
    for (let at = 0; at < plain.length; at++) {
      for (let byte = 0; byte < 256; byte++) {
        if (byte === 10) continue;
        const changed = plain.slice();
        changed[at] = byte;
        lines.push(changed);
      }
    }
    const { taken, left } = compare(lines);
    assert.ok(taken > 5_000 && left > 20_000, `${taken} taken, ${left} left`);
  });

  it('take the same of lines that begin as the line before and go on differently', () => {
    const random = new SeededRandom(23);
    const fields = [
      '"v":1',
      '"type":"progress"',
      '"type":"log"',
      `"ts":"${NOW}"`,
      '"ts":"2026-01-02T03:04:05Z"',
      `"run_id":"${RUN}"`,
      '"run_id":"r-other"',
      '"run_id":"r-another-run"',
      '"claimed_run_id":"r-1"',
      '"pct":5',
      '"pct":500',
      '"msg":"x"',
      '"msg":5',
      '"level":"info"',
      '"more":{"pct":500,"v":2}',
      '"seq":1',
    ];
    const lines: Uint8Array[] = [];
    let line: string[] = ['"v":1', '"type":"progress"', '"msg":"x"'];
    for (let count = 0; count < 40_000; count++) {
      const kept = line.slice(0, random.below(line.length + 1));
      const added = Array.from({ length: random.below(4) }, () => random.pick(fields));
      line = random.below(8) === 0 ? ['"v":1', '"type":"progress"', ...added] : [...kept, ...added];
      lines.push(encoder.encode(`{${line.join(random.pick([',', ',', ',', ', ', ' ,']))}}`));
    }
    const { taken, left } = compare(lines);
    assert.ok(taken > 5_000 && left > 5_000, `${taken} taken, ${left} left`);
  });

  it('take the same of lines that end anywhere', () => {
    const line = encoder.encode(heartbeat({ msg: 'é'.repeat(20), run_id: 'r-other', ts: undefined }));
    const lines = Array.from(line, (_, end) => line.subarray(0, end)).filter(({ length }) => length > 0);
    assert.equal(compare([...lines, line]).taken, 1);
  });

  it('take the same of characters of UTF-8 and of bytes that are not characters', () => {
    const texts: number[][] = [];
    for (let first = 0x80; first < 0x100; first++) {
      for (const second of [0x22, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0]) {
        texts.push(
          [first, second],
          [first, second, 0x80],
          [first, second, 0xbf, 0x80],
          [first, second, 0x80, 0x7f],
        );
      }
    }
    const template = encoder.encode(heartbeat({ msg: '?' }));
    const at = template.indexOf(63);
    const { taken, left } = compare(
      texts.map((bytes) =>
        Uint8Array.of(...template.subarray(0, at), ...bytes, ...template.subarray(at + 1)),
      ),
    );
    assert.ok(taken > 100 && left > 1000, `${taken} taken, ${left} left`);
  });
});

describe('a scan', () => {
  it('gives numbers without a gap, also where they become longer', () => {
    const scanner = scannerOf(RUN);
    for (const first of [0, 8, 98, 999_999_990, MAX_SEQ - 20]) {
      const bytes = encoder.encode(`${heartbeat({})}\n`.repeat(20));
      scanner.begin(bytes);
      assert.equal(scanner.scan(0, first, NOW, false), bytes.length);
      const numbers = linesOf(scanner).map((line) => JSON.parse(line).seq);
      assert.deepEqual(
        numbers,
        Array.from({ length: 20 }, (_, index) => first + index + 1),
      );
    }
  });

  it('stops at a line of another run unless it may take it', () => {
    const scanner = scannerOf(RUN);
    const own = `${heartbeat({})}\n`;
    const bytes = encoder.encode(own + `${heartbeat({ run_id: 'r-1' })}\n${own}`);
    scanner.begin(bytes);
    assert.equal(scanner.scan(0, 0, NOW, false), own.length);
    assert.equal(scanner.count, 1);
    assert.equal(scanner.scan(own.length, 1, NOW, false), own.length);
    assert.equal(scanner.count, 0);
    assert.equal(scanner.scan(own.length, 1, NOW, true), bytes.length);
    assert.equal(JSON.parse(linesOf(scanner)[0]!).claimed_run_id, 'r-1');
  });

  it('takes no line that has no end yet', () => {
    const scanner = scannerOf(RUN);
    const bytes = encoder.encode(`${heartbeat({})}\n${heartbeat({})}`);
    scanner.begin(bytes);
    assert.equal(scanner.scan(0, 0, NOW, true), heartbeat({}).length + 1);
    assert.equal(scanner.scan(heartbeat({}).length + 1, 1, NOW, true), heartbeat({}).length + 1);
    assert.equal(scanner.count, 0);
  });

  it('says whether a progress message was among the lines', () => {
    const scanner = scannerOf(RUN);
    for (const type of ['progress', 'heartbeat']) {
      const bytes = encoder.encode(`${heartbeat({})}\n${heartbeat({ type })}\n`);
      scanner.begin(bytes);
      scanner.scan(0, 0, NOW, true);
      assert.deepEqual([scanner.count, scanner.hasProgress], [2, type === 'progress']);
    }
  });

  it('takes chunks that are longer than its memory, and short lines that become five times as long', () => {
    for (const line of ['{"type":"heartbeat"}', heartbeat({ msg: 'x'.repeat(200_000) })]) {
      const bytes = encoder.encode(`${line}\n`.repeat(Math.ceil(1_000_000 / line.length)));
      const scanner = scannerOf(RUN);
      scanner.begin(bytes);
      let taken = 0;
      for (let at = 0; at < bytes.length; ) {
        const next = scanner.scan(at, taken, NOW, true);
        assert.ok(next > at);
        for (const stored of linesOf(scanner)) {
          const { seq, run_id, ts, type } = JSON.parse(stored);
          assert.deepEqual([seq, run_id, typeof ts, type], [++taken, RUN, 'string', 'heartbeat']);
        }
        at = next;
      }
      assert.equal(taken, bytes.length / (line.length + 1));
    }
  });

  it('leaves a line that is longer than its memory, and takes what follows', () => {
    const long = `${heartbeat({ msg: 'x'.repeat(300_000) })}\n`;
    const bytes = encoder.encode(`${long}${heartbeat({})}\n`);
    const scanner = scannerOf(RUN);
    scanner.begin(bytes);
    assert.equal(scanner.scan(0, 0, NOW, true), 0);
    assert.equal(scanner.scan(long.length, 0, NOW, true), bytes.length);
  });

  it('knows run ids that JSON escapes, and makes no scanner for one that is very long', () => {
    for (const runId of ['a\\n"é', 'r-1', 'x'.repeat(200)]) {
      const bytes = encoder.encode(`${heartbeat({ run_id: runId })}\n${heartbeat({ run_id: undefined })}\n`);
      const scanner = scannerOf(runId);
      scanner.begin(bytes);
      assert.equal(scanner.scan(0, 0, NOW, false), bytes.length);
      for (const line of linesOf(scanner)) assert.equal(JSON.parse(line).run_id, runId);
    }
    assert.equal(ChunkScanner.of('x'.repeat(300)), undefined);
  });
});

/** Passes lines through both scanners, which must take the same and make the same bytes. */
function compare(
  lines: readonly Uint8Array[],
  { endings }: { endings?: SeededRandom } = {},
): { taken: number; left: number } {
  const chunk = new Uint8Array(lines.reduce((sum, line) => sum + line.length + 2, 0));
  const starts: number[] = [];
  let length = 0;
  for (const line of lines) {
    starts.push(length);
    chunk.set(line, length);
    length += line.length;
    if (endings?.chance(0.2)) chunk[length++] = 13;
    chunk[length++] = 10;
  }
  starts.push(length);
  const single = new HotScanner(RUN);
  const completer = new LineCompleter(RUN);
  const scanner = scannerOf(RUN);
  scanner.begin(chunk.subarray(0, length));
  let made: string[] = [];
  let at = 0;
  let taken = 0;
  for (const [index, start] of starts.slice(0, -1).entries()) {
    const next = starts[index + 1]!;
    const end = chunk[next - 2] === 13 && next - 2 >= start ? next - 2 : next - 1;
    const kind = single.scan(chunk, start, end);
    const text = () => JSON.stringify(Buffer.from(chunk.subarray(start, end)).toString('latin1'));
    if (made.length === 0) {
      at = scanner.scan(start, taken, NOW, true);
      made = linesOf(scanner);
    }
    if (kind === 'other') {
      assert.ok(at <= start && made.length === 0, `taken: ${text()}`);
      continue;
    }
    assert.ok(at > start, `left: ${text()}`);
    const line = completer.complete(chunk, start, end, single, NOW);
    taken++;
    const expected = `${Buffer.from(line.bytes.subarray(0, line.end - 1)).toString()},"seq":${taken}}`;
    assert.equal(made.shift(), expected, text());
  }
  assert.equal(made.length, 0);
  return { taken, left: lines.length - taken };
}

function scannerOf(runId: string): ChunkScanner {
  const scanner = ChunkScanner.of(runId);
  assert.ok(scanner !== undefined);
  return scanner;
}

/** The lines that the last scan made; their number is the one that it says. */
function linesOf({ lines, count }: ChunkScanner): string[] {
  const texts = Buffer.from(lines).toString().split('\n');
  assert.equal(texts.pop(), '');
  assert.equal(texts.length, count);
  return texts;
}

function heartbeat(fields: Record<string, unknown>): string {
  return JSON.stringify({ v: 1, type: 'heartbeat', ts: '2025-08-30T12:34:56Z', run_id: RUN, ...fields });
}

/** The message without some of its envelope, or of another run. */
function withGaps(line: string, random: SeededRandom): string {
  const field = random.pick(['v', 'ts', 'run_id', 'foreign', '', '', '', '']);
  if (field === '') return line;
  if (field === 'foreign')
    return line.replaceAll(RUN, random.pick(['r-0000000000000000', 'r-', `${RUN}x`, 'ü']));
  return line.replace(new RegExp(`"${field}": ?(?:1|"[^"]*"), ?`), '');
}

function splitAtNewlines(bytes: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let from = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, from)) {
    parts.push(bytes.subarray(from, at));
    from = at + 1;
  }
  parts.push(bytes.subarray(from));
  return parts.filter(({ length }) => length > 0);
}
