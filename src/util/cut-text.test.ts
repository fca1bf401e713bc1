import assert from 'node:assert/strict';
import { it } from 'node:test';
import { cutText, cutTexts, cutValue } from './cut-text.ts';

const LONG = 'x'.repeat(100_000);

it('cuts a long text and says its length, and leaves others as they are', () => {
  assert.match(cutText(LONG), /^x{2000}… \(100000 characters in all\)$/);
  assert.equal(cutText('x'.repeat(2_000)), 'x'.repeat(2_000));
});

it('cuts each text and each key within a value', () => {
  const cut = cutText(LONG);
  assert.deepEqual(cutTexts({ a: [LONG, 1, null], [LONG]: true }), { a: [cut, 1, null], [cut]: true });
});

it('makes a long value the beginning of its JSON', () => {
  assert.deepEqual(cutValue({ a: 1 }), { a: 1 });
  assert.match(
    String(cutValue(Array.from({ length: 5_000 }, () => 1))),
    /^\[1,1,.*… \(10001 characters in all\)$/,
  );
});
