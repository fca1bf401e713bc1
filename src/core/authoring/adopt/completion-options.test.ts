import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { bashOptions, fishOptions, zshOptions } from './completion-options.ts';
import { withFurtherTexts } from './find-help.ts';
import type { FoundOption } from './help-shape.ts';
import { readHelp } from './read-help.ts';

const shown = (options: readonly FoundOption[]) =>
  options.map(({ spellings, value, repeats, text }) => [spellings.join(' '), value !== null, repeats, text]);

describe('the completion of a shell', () => {
  it('of fish has options for a program and for a subcommand', () => {
    const text = [
      "complete -x -c git -n '__fish_git_using_command log' -s n -l max-count -d 'Limit the number'",
      "complete -f -c git -n '__fish_git_using_command show log' -l oneline -d 'Shorthand for \"x\"'",
      "complete -f -c git -n '__fish_git_using_command show' -l other -d 'x'",
      "complete -c git -l version -d 'Show the version'",
      "complete -c gitk -l all -d 'x'",
    ].join('\n');
    assert.deepEqual(shown(fishOptions(text, ['git', 'log'])), [
      ['-n --max-count', true, false, 'Limit the number'],
      ['--oneline', false, false, 'Shorthand for "x"'],
    ]);
    assert.deepEqual(shown(fishOptions(text, ['git'])), [['--version', false, false, 'Show the version']]);
  });

  it('of zsh has options with values, and those that may be repeated', () => {
    const text = [
      "  {-X,--request}'[Specify request method to use]':'<method>':'(DELETE GET)' \\",
      "  --compressed'[Request compressed response]' \\",
      "  '*--add=[Add one]:what:_files' \\",
      "  '(-v --verbose)'{-v,--verbose}'[Say more]' \\",
      '  echo "[no option]"',
    ].join('\n');
    assert.deepEqual(shown(zshOptions(text)), [
      ['-X --request', true, false, 'Specify request method to use'],
      ['--compressed', false, false, 'Request compressed response'],
      ['--add', true, true, 'Add one'],
      ['-v --verbose', false, false, 'Say more'],
    ]);
  });

  it('of bash has long options alone', () => {
    const options = bashOptions(
      '# --not this\nOPTS="--all --bytes\n  --sort= "\nCOMPREPLY=( $(compgen -W "$OPTS" -- $cur) )\n',
    );
    assert.deepEqual(shown(options), [
      ['--all', false, false, ''],
      ['--bytes', false, false, ''],
      ['--sort', true, false, ''],
    ]);
    assert.deepEqual(
      options.map(({ isValueUnknown }) => isValueUnknown),
      [true, true, false],
    );
  });

  it('is read as text and never executed, and only where the program has no manual page', () => {
    const folder = mkdtempSync(join(tmpdir(), 'acor-completion-'));
    try {
      const harm = join(folder, 'harm');
      for (const each of ['bin', 'share/man/man1', 'share/bash-completion/completions'])
        mkdirSync(join(folder, each), { recursive: true });
      const program = join(folder, 'bin/x');
      writeFileSync(program, '', { mode: 0o755 });
      writeFileSync(join(folder, 'share/bash-completion/completions/x'), `touch ${harm}\nOPTS="--all"\n`, {
        mode: 0o755,
      });
      const text = '  -b   x\n';
      const found = { help: readHelp(text, ['x']), text, source: "the help of 'x -h'", asked: [] };
      const sources = () =>
        withFurtherTexts({ program }, ['x'], found).help.options.map(({ spellings, source }) => [
          spellings[0],
          source,
        ]);
      assert.deepEqual(sources(), [
        ['-b', undefined],
        ['--all', 'the completion of bash for x'],
      ]);
      writeFileSync(join(folder, 'share/man/man1/x.1'), '.TH X 1\n.SH OPTIONS\n.TP\n-c\nText.\n');
      assert.deepEqual(sources(), [
        ['-b', undefined],
        ['-c', 'the manual page x(1)'],
      ]);
      assert.ok(!existsSync(harm));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
