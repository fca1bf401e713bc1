import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { shellCommand, splitCommand } from './shell-words.ts';

describe('a command line that is taken apart', () => {
  it('gives the words that a shell would give', () => {
    for (const [line, words] of [
      ['a  --x 1\t"b c"', ['a', '--x', '1', 'b c']],
      [`a'b'"c"\\ d ''`, ['abc d', '']],
      ['"a\\"b\\n" \'c\\d\'', ['a"b\\n', 'c\\d']],
      ['  ', []],
    ] as const)
      assert.deepEqual(splitCommand(line), words);
  });

  it('is not expanded', () => {
    assert.deepEqual(splitCommand('$HOME ${a} `b` * ~ a|b; c>d'), '$HOME ${a} `b` * ~ a|b; c>d'.split(' '));
  });

  it('says when a quote is never closed', () => {
    for (const line of ["a 'b", 'a "b', `a "b'`]) assert.equal(splitCommand(line), undefined);
  });

  it('restores what was quoted for a shell', () => {
    const words = ['tool', '', "it's", 'a b', '"', '\\', '${x}', '$(y)', '\n', 'ä', "'\\''"];
    assert.deepEqual(splitCommand(shellCommand(words)), words);
  });
});
