import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LinearPattern } from './linear-pattern.ts';

/** Patterns and texts for which JavaScript's own engine gives the same answer. */
const SAME: [string, string[]][] = [
  ['(?<pct>[\\d.]+)%.*ETA (?<eta>\\S+)', ['a 42.5% done, ETA 1m2s left', '42%', '']],
  ['^(?<a>a+?)(?<b>a*)$', ['aaa', 'a', 'b']],
  ['(?<x>a|ab)(?<y>c|bcd)(?<z>d*)', ['abcd', 'acd', 'xabcdd']],
  ['(?<n>(?:\\d{1,3},)*\\d{1,3}) files?', ['1,234,567 files', '12 file', '1234 files']],
  ['time=(?<h>\\d{2}):(?<m>\\d{2}):(?<s>[\\d.]+)\\b', ['frame= 10 time=00:01:02.50 bitrate', 'time=1:2:3']],
  ['(?<w>\\bcat\\b)', ['concat cat', 'concat', 'cat']],
  ['(?<c>[^\\s"\\-\\]a-f]+)', ['abc xyz', '"-]', 'g-h']],
  ['(?<e>)x|(?<f>.{2,})', ['x', 'yz', 'y', 'y\nz']],
  ['(?<o>(?:a?){3}a{3})', ['aaa', 'aaaaaa', 'aa']],
  ['\\u0041\\x42(?<t>\\t|\\n|\\/)', ['AB\t', 'AB/', 'AB']],
  ['(?<l>(?:a|b)*?)c', ['ababc', 'c', 'ab']],
];

describe('a pattern that is searched in linear time', () => {
  it('finds what the engine of JavaScript finds', () => {
    for (const [source, texts] of SAME)
      for (const text of texts) {
        const found = new RegExp(source).exec(text);
        const groups = found && Object.entries(found.groups ?? {}).filter(([, each]) => each !== undefined);
        const wanted = groups === null ? undefined : Object.fromEntries(groups);
        assert.deepEqual(new LinearPattern(source).search(text), wanted, `${source} in '${text}'`);
      }
  });

  it('takes linear time where a search with backtracking takes for ever', () => {
    const text = 'a'.repeat(20_000);
    for (const source of ['(a+)+$b', '(a|a)*b', 'a*a*a*a*b', '(?:a?){200}a{200}b', '(.*)*x'])
      assert.equal(new LinearPattern(source).search(text), undefined, source);
  });

  it('refuses what it does not know, and what is no pattern', () => {
    for (const source of [
      '(',
      ')',
      '[a',
      'a**',
      '*',
      '(?=a)',
      '(?<!a)',
      '\\1',
      '\\k<a>',
      '[b-a]',
      'a{2,1}',
      '(?<a>x)(?<a>y)',
      'a{1000}{1000}',
      '('.repeat(100),
      '\\u12',
    ])
      assert.throws(() => new LinearPattern(source), SyntaxError, source);
  });
});
