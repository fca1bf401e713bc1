import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CommandForm, writeCommand } from './write-command.ts';

const FORMS: readonly CommandForm[] = [
  { operation: 'note.list', command: 'list' },
  { operation: 'note.add', command: 'note add', positionals: ['title', 'tags'] },
  { operation: 'tool.exec', command: 'exec', positionals: ['tool'], passthrough: 'args' },
];

describe('a next step as a command line', () => {
  for (const [title, operation, input, expected] of [
    ['has the words of the command', 'note.list', {}, 'notes list'],
    [
      'has positionals in their order, then flags',
      'note.add',
      { tags: ['a', 'b'], max_age: 3, title: 'x' },
      'notes note add x a b --max-age 3',
    ],
    [
      'leaves out what is not given',
      'note.add',
      { title: 'x', tags: undefined, meta: null },
      'notes note add x',
    ],
    [
      'writes switches with and without no-',
      'note.list',
      { all: true, sorted: false },
      'notes list --all --no-sorted',
    ],
    ['repeats the flag of a list', 'note.list', { tag: ['a', 'b'] }, 'notes list --tag a --tag b'],
    [
      'writes other values than texts as JSON',
      'note.list',
      { meta: { a: 1 } },
      `notes list --meta '{"a":1}'`,
    ],
    ['quotes for a shell', 'note.add', { title: "it's $HOME" }, `notes note add 'it'\\''s $HOME'`],
    ['keeps a value that looks like a flag', 'note.list', { tag: ['--x'] }, 'notes list --tag=--x'],
    [
      'keeps a positional that looks like a flag',
      'note.add',
      { title: '-x', all: true },
      'notes note add --all -- -x',
    ],
    [
      'has its flags before a program that is called',
      'tool.exec',
      { tool: 'wc', args: ['-l', 'a b'], dry_run: true },
      `notes exec --dry-run wc -l 'a b'`,
    ],
  ] as const) {
    it(title, () => {
      assert.equal(writeCommand('notes', FORMS, { operation, input, why: '' }), expected);
    });
  }

  it('is the command itself where it is a command of another program', () => {
    assert.equal(writeCommand('notes', FORMS, { command: 'chmod +x a', why: '' }), 'chmod +x a');
  });

  it('is refused for an operation that does not exist', () => {
    assert.throws(
      () => writeCommand('notes', FORMS, { operation: 'note.gone', input: {}, why: '' }),
      /note\.gone/,
    );
  });
});
