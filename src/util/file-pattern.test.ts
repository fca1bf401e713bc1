import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FilePattern } from './file-pattern.ts';

describe('a pattern', () => {
  const cases: [string, string[], string[]][] = [
    ['*/cli.py', ['a/cli.py'], ['cli.py', 'a/b/cli.py', 'a/cliXpy']],
    ['**/*.sh', ['x.sh', 'a/x.sh', 'a/b/x.sh'], ['x.shx', 'a/x']],
    ['a/**', ['a/b', 'a/b/c'], ['b/a']],
    ['{a,b}/?.py', ['a/x.py', 'b/y.py'], ['c/x.py', 'a/xy.py']],
    ['a+(b)[c].py', ['a+(b)[c].py'], ['aabc.py']],
    ['a,b', ['a,b'], ['a']],
    ['a**/b', ['ab', 'ax/b', 'ax/y/b'], ['a/b', 'axb', 'ax//b']],
    ['**/b', ['b', 'a/b', 'a/a/b'], ['/b', 'a//b', 'ab']],
    ['**b', ['b', 'a/b', 'ab'], ['a/c']],
    ['*/*', ['a/b', '/'], ['a', 'a/b/c']],
    ['{**/x,y*}z', ['xz', 'a/xz', 'yz', 'yaz'], ['y/z', 'z']],
    ['?💥', ['💥💥'], ['💥', '/💥']],
  ];
  for (const [glob, yes, no] of cases) {
    it(`${glob} matches what it says, and nothing else`, () => {
      for (const path of yes) assert.ok(FilePattern.ofPaths(glob).test(path), path);
      for (const path of no) assert.ok(!FilePattern.ofPaths(glob).test(path), path);
    });
  }

  it('with a brace that is not closed takes it as it is', () => {
    assert.ok(FilePattern.ofPaths('a{b').test('a{b'));
  });

  it('of names has a meaning for * alone', () => {
    const pattern = FilePattern.ofNames('a*?{b,c}');
    assert.deepEqual(
      ['a?{b,c}', 'axy?{b,c}', 'a/?{b,c}', 'ab', 'axb'].map((name) => pattern.test(name)),
      [true, true, false, false, false],
    );
  });

  it('with many wildcards is quick where a search with backtracking takes for ever', () => {
    const name = 'a'.repeat(255);
    for (const glob of ['*a'.repeat(120), '**/'.repeat(60), '{a,aa}'.repeat(120), '**a'.repeat(120)])
      assert.ok(!FilePattern.ofPaths(`${glob}z`).test(name), glob);
    assert.ok(FilePattern.ofPaths('*a'.repeat(120)).test(name));
    assert.ok(!FilePattern.ofNames(`${'*a'.repeat(120)}z`).test(name));
  });

  it('matches no text that is longer than a path may be', () => {
    assert.ok(FilePattern.ofPaths('*').test('a'.repeat(4096)));
    assert.ok(!FilePattern.ofPaths('*').test('a'.repeat(4097)));
  });
});
