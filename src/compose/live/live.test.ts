import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { displayWidth } from '../display-width.ts';
import { drawFooter, eraseFooter } from './live-area.ts';
import { RecentLines } from './recent-lines.ts';

describe('recent lines', () => {
  it('are the last ones, in order, with the count of those before, whatever there was of them', () => {
    const lines = new RecentLines();
    assert.equal(lines.isEmpty, true);
    for (let index = 0; index < 100_000; index++) lines.push(`line ${index}`);
    const { texts, leftOut } = lines.take();
    assert.equal(texts.length + leftOut, 100_000);
    assert.ok(texts.length > 100 && texts.length < 1000, String(texts.length));
    assert.deepEqual([texts[0], texts.at(-1)], [`line ${leftOut}`, 'line 99999']);
    assert.deepEqual([lines.isEmpty, lines.take()], [true, { texts: [], leftOut: 0 }]);
  });

  it('keep what is to be kept in its place, while the others give way', () => {
    const lines = new RecentLines();
    lines.push('a warning', 'kept');
    for (let index = 0; index < 5000; index++) lines.push('x');
    lines.push('the end', 'kept');
    const { texts } = lines.take();
    assert.deepEqual([texts[0], texts[1], texts.at(-1)], ['a warning', 'x', 'the end']);
  });

  it('are bounded in characters as in number, also those that are kept, but for one', () => {
    const lines = new RecentLines();
    for (let index = 0; index < 1000; index++) {
      lines.push('x'.repeat(10_000));
      lines.push('y'.repeat(10_000), 'kept');
    }
    const { texts } = lines.take();
    assert.ok(texts.join('').length <= 400_000);
    lines.push('z'.repeat(1_000_000));
    assert.equal(lines.take().texts.length, 1);
  });
});

describe('a footer', () => {
  it('is erased from its first row on, also where a narrower screen has broken its lines', () => {
    assert.equal(eraseFooter([], 80), '');
    assert.equal(eraseFooter([20], 80), '\r\x1b[J');
    assert.equal(eraseFooter([79, 0, 10], 80), '\r\x1b[2A\x1b[J');
    assert.equal(eraseFooter([79, 10], 30), '\r\x1b[3A\x1b[J');
  });

  it('leaves no mode behind, and is as wide as what can be seen of it', () => {
    assert.equal(drawFooter([]), '');
    assert.equal(drawFooter(['a', 'b']), '\x1b[?7la\nb\x1b[?7h');
    assert.equal(displayWidth('\x1b[31m漢\x1b[39m!'), 3);
  });
});
