import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { globPattern } from './tools-folder.ts';

describe('a pattern', () => {
  const cases: [string, string[], string[]][] = [
    ['*/cli.py', ['a/cli.py'], ['cli.py', 'a/b/cli.py', 'a/cliXpy']],
    ['**/*.sh', ['x.sh', 'a/x.sh', 'a/b/x.sh'], ['x.shx', 'a/x']],
    ['a/**', ['a/b', 'a/b/c'], ['b/a']],
    ['{a,b}/?.py', ['a/x.py', 'b/y.py'], ['c/x.py', 'a/xy.py']],
    ['a+(b)[c].py', ['a+(b)[c].py'], ['aabc.py']],
    ['a,b', ['a,b'], ['a']],
  ];
  for (const [glob, yes, no] of cases) {
    it(`${glob} matches what it says, and nothing else`, () => {
      for (const path of yes) assert.match(path, globPattern(glob));
      for (const path of no) assert.doesNotMatch(path, globPattern(glob));
    });
  }

  it('with a brace that is not closed takes it as it is', () => {
    assert.match('a{b', globPattern('a{b'));
  });
});
