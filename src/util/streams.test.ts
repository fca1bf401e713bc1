import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { it } from 'node:test';
import { readLines } from './streams.ts';

it('lines end at \\n alone, wherever the chunks are cut', async () => {
  const text = '{"a":"\u2028\u0085\u2029\r"}\n\nétoile 漢\nlast';
  const bytes = Buffer.from(text);
  for (const size of [1, 2, 3, 7, bytes.length]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
    const lines: string[] = [];
    for await (const line of readLines(Readable.from(chunks))) lines.push(line);
    assert.deepEqual(lines, text.split('\n'));
  }
});
