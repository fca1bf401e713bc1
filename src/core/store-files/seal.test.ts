import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { findBrokenMark, SealBuilder } from './seal.ts';

const LINES = Array.from({ length: 3000 }, (_, index) => Buffer.from(`{"seq":${index + 1}}\n`));
const BYTES = Buffer.concat(LINES);

function sealed() {
  const builder = new SealBuilder();
  for (const line of LINES) builder.update(line);
  return builder.seal();
}

function brokenIn(bytes: Buffer, seal = sealed()) {
  return findBrokenMark(bytes.length, (from, to) => [bytes.subarray(from, to)], seal);
}

/** The bytes with a change of one of them. */
function changedAt(offset: number): Buffer {
  const bytes = Buffer.from(BYTES);
  bytes[offset]! ^= 1;
  return bytes;
}

describe('a seal', () => {
  it('covers all bytes and has at most 64 marks, spread over them', () => {
    const seal = sealed();
    assert.equal(seal.bytes, BYTES.length);
    assert.equal(seal.sha256, createHash('sha256').update(BYTES).digest('hex'));
    assert.ok(seal.marks.length > 16 && seal.marks.length <= 64, `${seal.marks.length} marks`);
    const gaps = seal.marks.map(([offset], index) => offset - (seal.marks[index - 1]?.[0] ?? 0));
    assert.ok(Math.max(...gaps) <= BYTES.length / 8, `${gaps}`);
    assert.equal(brokenIn(BYTES), undefined);
  });

  it('names the part with the first changed byte', () => {
    const { marks } = sealed();
    const [from] = marks[4]!;
    const [to] = marks[5]!;
    for (const offset of [from, to - 1]) assert.deepEqual(brokenIn(changedAt(offset)), { from, to });
  });

  it('finds a change behind the last mark by the hash of all bytes', () => {
    const { marks, ...whole } = sealed();
    const seal = { ...whole, marks: marks.slice(0, 2) };
    const [from] = seal.marks[1]!;
    assert.equal(brokenIn(BYTES, seal), undefined);
    assert.deepEqual(brokenIn(changedAt(BYTES.length - 2), seal), { from, to: BYTES.length });
    assert.deepEqual(brokenIn(changedAt(7), { ...whole, marks: [] }), { from: 0, to: BYTES.length });
  });

  it('finds missing and additional bytes at the end', () => {
    const more = Buffer.concat([BYTES, Buffer.from('{}\n')]);
    for (const bytes of [more, BYTES.subarray(0, -1)]) assert.notEqual(brokenIn(bytes), undefined);
  });
});
