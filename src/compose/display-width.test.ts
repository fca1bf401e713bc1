import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cutToWidth, displayWidth, padToWidth } from './display-width.ts';

describe('width', () => {
  it('counts what a terminal draws', () => {
    const cases: [string, number][] = [
      ['abc', 3],
      ['漢字', 4],
      ['e\u0301', 1],
      ['👩‍👩‍👧', 2],
      ['🇩🇪', 2],
      ['한', 2],
      ['ｆ', 2],
      ['é…', 2],
      ['', 0],
      ['a\u200bb\ufeff', 2],
      ['\u1112\u1161\u11ab', 2],
      ['𠀀', 2],
    ];
    for (const [text, width] of cases) assert.equal(displayWidth(text), width, text);
  });

  it('is kept when a text is cut or filled', () => {
    assert.equal(cutToWidth('漢字漢字', 5, '…'), '漢字…');
    assert.equal(cutToWidth('漢字漢字', 4, '…'), '漢…');
    assert.equal(cutToWidth('𠀀𠀁𠀂', 4, '…'), '𠀀…');
    assert.equal(cutToWidth('abc', 3, '…'), 'abc');
    assert.equal(padToWidth('漢', 4), '漢  ');
    assert.equal(padToWidth('7', 3, 'left'), '  7');
  });
});
