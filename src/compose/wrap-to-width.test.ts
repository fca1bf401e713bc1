import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { displayWidth, fitParts } from './display-width.ts';
import { wrapToWidth } from './wrap-to-width.ts';

describe('wrapping to a width', () => {
  it('breaks at spaces, within long words where it must, and keeps line ends', () => {
    assert.deepEqual(wrapToWidth('one two three\nfour', 8), ['one two', 'three', 'four']);
    assert.deepEqual(wrapToWidth('abcdefghij', 4), ['abcd', 'efgh', 'ij']);
    assert.deepEqual(wrapToWidth('a bcdefghij', 6), ['a bcde', 'fghij']);
    assert.deepEqual(wrapToWidth('', 4), ['']);
  });

  it('counts wide, combined and invisible characters as a terminal does, and tears none of them', () => {
    const text = '漢字 👩‍👩‍👧👩‍👩‍👧 e\u0301e\u0301e\u0301 한글한글 plain';
    for (const width of [2, 3, 5, 8, 13]) {
      const lines = wrapToWidth(text, width);
      for (const line of lines) assert.ok(displayWidth(line) <= width, `${width}: ${line}`);
      assert.equal(lines.join('').replaceAll(' ', ''), text.replaceAll(' ', ''));
    }
  });
});

describe('pieces on one line', () => {
  const screen = { width: 20, color: true, unicode: true, live: true };

  it('are cut where they do not fit, wherever a wide character stands, and keep their looks', () => {
    assert.equal(fitParts(['ab', ['cd', 'red']], 10, screen), 'ab\x1b[31mcd\x1b[39m');
    assert.equal(fitParts(['ab', ['漢字漢字', 'red'], 'never'], 6, screen), 'ab\x1b[31m漢…\x1b[39m');
    assert.equal(fitParts(['abcdef', 'g'], 3, { ...screen, unicode: false }), 'abc');
  });
});
