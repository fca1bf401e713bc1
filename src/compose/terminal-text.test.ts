import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeLine } from './envelope.ts';
import { safeData, safeLine, safeText } from './terminal-text.ts';

describe('untrusted text', () => {
  it('loses its escape sequences, and shows other control characters', () => {
    const cases: [string, string][] = [
      ['a\x1b[31mb\x1b[0mc', 'abc'],
      ['a\x9b2Jb', 'ab'],
      ['a\x1b]0;title\x07b', 'ab'],
      ['a\x1b]8;;http://x\x1b\\b', 'ab'],
      ['a\x1bPq#0\x1b\\b', 'ab'],
      ['a\x9d0;t\x9cb', 'ab'],
      ['a\x1bcb', 'ab'],
      ['a\x1b', 'a\\x1b'],
      ['a\rb\r\nc', 'a\\x0db\nc'],
      ['a\x08\x00\x7f\x85b', 'a\\x08\\x00\\x7f\\x85b'],
      ['a\u202eb\u2066', 'a\\u202eb\\u2066'],
      ['a\u00adb\u2060c\ufeff', 'a\\xadb\\u2060c\\ufeff'],
      ['a\u{e0041}b', 'a\\u{e0041}b'],
      ['a\tb\nc', 'a\tb\nc'],
      ['漢字 é 👩‍👩‍👧', '漢字 é 👩‍👩‍👧'],
    ];
    for (const [given, expected] of cases) assert.equal(safeText(given), expected, JSON.stringify(given));
  });

  it('stays on one line where it is a part of one', () => {
    assert.equal(safeLine('a\n\tb\r\n\x1b[1mc'), 'a\\n b\\nc');
  });

  it('never keeps a control character, whatever the mixture', () => {
    const parts = [
      '\x1b',
      '\x1b]',
      '\x1b[',
      '\x9b',
      '\x9d',
      '\x9c',
      '\x07',
      '0;',
      'm',
      '\\',
      '\r',
      '\u202e',
      'x',
    ];
    let state = 3;
    for (let round = 0; round < 2000; round++) {
      let text = '';
      for (let index = 0; index < 8; index++) {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        text += parts[(state >>> 8) % parts.length];
      }
      assert.doesNotMatch(safeText(text), /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/, JSON.stringify(text));
    }
  });

  it('is made safe in keys and at every depth', () => {
    assert.deepEqual(safeData({ 'k\x1b[1m': [{ a: '\x07' }], n: 1, none: null }), {
      k: [{ a: '\\x07' }],
      n: 1,
      none: null,
    });
  });

  it('in a JSON line is escaped, and reads back the same', () => {
    const data = { a: '\x1b[31m\x9b2J\u202e\u2028\ufeff\u{e0041} é 👩‍👩‍👧' };
    const line = encodeLine(data);
    assert.doesNotMatch(line, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e\ufeff\u{e0041}]/u);
    assert.deepEqual(JSON.parse(line), data);
  });
});
