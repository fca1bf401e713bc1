import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findDirectCall } from './direct-call.ts';

const TOOLS: Readonly<Record<string, string>> = { '/p/tools/x/cli.py': 'x', '/p/tools/y y/run': 'y' };
const found = (command: string, cwd = '/p') => findDirectCall(command, cwd, (path) => TOOLS[path]);

describe('a command of an agent', () => {
  it('that starts a tool past ACOR is seen, with the arguments of the call', () => {
    for (const [command, args] of [
      ['tools/x/cli.py --a 1', ['--a', '1']],
      ['./tools/x/cli.py', []],
      ['python3 tools/x/cli.py "a b"', ['a b']],
      ['python -u tools/x/cli.py', []],
      ['/usr/bin/env python3.12 tools/x/cli.py', []],
      ['A=1 B="2 3" tools/x/cli.py', []],
      ['env -i A=1 tools/x/cli.py', []],
      ['timeout 5 nice -n 3 python3 tools/x/cli.py', []],
      ['uv run tools/x/cli.py', []],
      ['cd tools/x && ./cli.py z', ['z']],
      ['cd tools; cd x; python3 cli.py', []],
      ['ls; echo hi | tools/x/cli.py - > out 2>&1', ['-']],
      ['true || (python3 tools/x/cli.py)', []],
      ['echo "$(true)" $(tools/x/cli.py)', []],
      ['bash -c "cd tools && python3 x/cli.py q"', ['q']],
      ['bash -lc \'bash -c "tools/x/cli.py"\'', []],
      ['python3 -W ignore tools/x/cli.py', []],
      ['python3 -X utf8 -u tools/x/cli.py', []],
      ['bash -o pipefail tools/x/cli.py', []],
      ['node --require ./setup.js tools/x/cli.py', []],
      ['if true; then tools/x/cli.py; fi', []],
      ['if tools/x/cli.py; then true; fi', []],
      ['while ! python3 tools/x/cli.py 1; do sleep 1; done', ['1']],
      ['! tools/x/cli.py', []],
      ['for i in 1 2; do tools/x/cli.py $i; done', ['$i']],
      ['env -u A tools/x/cli.py', []],
      ['timeout -s KILL 5 tools/x/cli.py', []],
      ['source tools/x/cli.py', []],
      ["'/p/tools/y y/run' 1", ['1']],
      ['tools/y\\ y/run', []],
      ['python3 \\\n  tools/x/cli.py', []],
    ] as const) {
      const { tool, args: given } = found(command) ?? {};
      assert.deepEqual(
        [tool, given],
        [command.includes('y/run') || command.includes('y y') ? 'y' : 'x', [...args]],
        command,
      );
    }
  });

  it('has the words of the call only where the shell takes them as they are', () => {
    for (const [command, isLiteral] of [
      ['tools/x/cli.py --a "$X" --b $(date +%s)', false],
      ["tools/x/cli.py \"it's $X\" 'b'", false],
      ["# it's\ntools/x/cli.py $X 'b'", false],
      ["bash -c 'tools/x/cli.py $X'", false],
      ['tools/x/cli.py `date`', false],
      ['tools/x/cli.py *.csv', false],
      ['tools/x/cli.py ~/in.csv', false],
      ['tools/x/cli.py {a,b}', false],
      ['tools/x/cli.py --a 1 < in.csv', false],
      ['tools/x/cli.py \'$X\' "\\$X" \\$X', true],
      ['[ -f a ] && { bash -c "tools/x/cli.py \'a b\'"; } > out # $X', true],
    ] as const)
      assert.equal(found(command)?.isLiteral, isLiteral, command);
  });

  it('that does something else with the entry, or runs another file, is let pass', () => {
    for (const command of [
      '',
      'acor run x --a 1',
      'cat tools/x/cli.py',
      'git add tools/x/cli.py && git commit -m "python3 tools/x/cli.py"',
      'echo hi > tools/x/cli.py',
      'python3 gen.py > tools/x/cli.py',
      'python3 tools/x/test_cli.py',
      'python3 other.py tools/x/cli.py',
      'python3 -m py_compile tools/x/cli.py',
      'bash -n tools/x/cli.py',
      'python3 -c "print(1)" tools/x/cli.py',
      '# tools/x/cli.py',
      'env',
      'timeout 5',
      'tools/x/cli.py.bak',
      '"unclosed tools/x/cli.py',
    ])
      assert.equal(found(command), undefined, command);
    assert.equal(found('./cli.py', '/p/tools'), undefined);
  });

  it('is read to its end whatever it is', () => {
    for (const command of [
      '('.repeat(50_000),
      '\\',
      "'",
      '$',
      '$(',
      '`'.repeat(999),
      `bash -c ${'"bash -c '.repeat(50)}`,
      '\0;&|<>',
    ])
      assert.equal(found(command), undefined);
  });
});
