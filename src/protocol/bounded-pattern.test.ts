import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BoundedPattern } from './bounded-pattern.ts';
import { isQuickPattern } from './input-types.ts';
import { LinearPattern } from './linear-pattern.ts';
import { TooCostly } from './too-costly.ts';

const TEXTS = [
  '',
  'a',
  'ab',
  'ba',
  'a-b-c',
  'a--b',
  'aab b',
  '😀a',
  '😀😀',
  'é',
  ']x',
  '1.2.3',
  'A1b',
  '\n',
  '\u2028',
];

/** Patterns, some with what only the flag `u` has. */
const PATTERNS = [
  ...[
    '^(?!.*--)[a-z]+(-[a-z]+)*$',
    '^(?=.*[A-Z])(?=.*\\d).+$',
    '(?<=a)b',
    '(?<!a-)b',
    '(?<=^(?:a-)+)c',
    '^(?:.)$',
  ],
  ...['\\p{L}+', '^\\P{L}$', '[^\\]]', '\\u{1F600}', '\\ud83d\\ude00', '[😀]', '^\\S+$', '\\cJ', '\\bb\\B'],
  ...['(?<x>a|ab)(?<y>b?)$', '^(?:a?){3}a{1,3}$', '^(0|[1-9]\\d*)(\\.(0|[1-9]\\d*))+$', '(?=a(?!b))a'],
];

/** Patterns for which a search with backtracking has no end, and a text that shows it. */
const ENDLESS: [string, string][] = [
  ['^(a+)+$', `${'a'.repeat(5_000)}b`],
  ['^(a|a)*$', `${'a'.repeat(5_000)}b`],
  ['^(a|ab|b)*c$', 'ab'.repeat(2_000)],
  [`^${'a?'.repeat(40)}${'a'.repeat(40)}b$`, 'a'.repeat(40)],
  ['^(.*)(.*)(.*)(.*)(.*)(.*)x$', 'a'.repeat(5_000)],
  ['^(?=(a+)+$)', `${'a'.repeat(200)}b`],
];

const ORDINARY = [
  '^[a-z][a-z0-9_-]*$',
  '^\\d{4}-\\d{2}-\\d{2}$',
  '^.+@.+$',
  '[A-Z]{2,3}',
  '^(?:https?|file)://',
  '^v?\\d+\\.\\d+$',
];

describe('a pattern that is tested within bounds', () => {
  it('matches what the engine of JavaScript matches, whichever engine tests it', () => {
    for (const source of PATTERNS)
      for (const text of TEXTS) {
        const wanted = new RegExp(source, 'u').test(text);
        assert.equal(
          new BoundedPattern(source).test(text, () => {}),
          wanted,
          `${source} in '${text}'`,
        );
        const linear = new LinearPattern(source, { isInFull: true });
        assert.equal(linear.search(text) !== undefined, wanted, `${source} in '${text}', step by step`);
      }
  });

  it('has an answer where a search with backtracking has no end', () => {
    for (const [source, text] of ENDLESS)
      assert.equal(
        new BoundedPattern(source).test(text, () => {}),
        false,
        source,
      );
  });

  it('leaves an ordinary pattern to the engine of JavaScript, and no other one', () => {
    for (const source of ORDINARY) assert.ok(isQuickPattern(source, 100), source);
    for (const [source, { length }] of ENDLESS) assert.ok(!isQuickPattern(source, length), source);
  });

  it('is refused when neither engine can bound it, at once or for a long text', () => {
    assert.throws(() => new BoundedPattern('^((a+)+)\\1$'), SyntaxError);
    assert.throws(() => new BoundedPattern('('), SyntaxError);
    const repeats = new BoundedPattern('^(.*)x\\1x$');
    assert.equal(
      repeats.test('axax', () => {}),
      true,
    );
    assert.throws(() => repeats.test('ax'.repeat(5_000), () => {}), TooCostly);
  });

  it('calls for each character what may end its search', () => {
    const stop = () => {
      throw new TooCostly('enough');
    };
    assert.throws(() => new BoundedPattern('^(a+)+$').test('aaaaaaaaaa', stop), TooCostly);
  });
});
