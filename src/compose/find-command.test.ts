import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { unknownCommand } from './find-command.ts';

const COMMANDS = [
  'list',
  'run',
  'runs',
  'runs rm',
  'secret delete',
  'secret list',
  'secret set',
  'workflow list',
];

const app = { name: 'acor', routes: COMMANDS.map((command) => ({ command })) as never };

function guessFor(...words: string[]): string | undefined {
  const found = { route: undefined, words: [], args: words };
  const { next } = unknownCommand(app, found, { unplaced: words, problems: [] } as never);
  return (next ?? [])
    .flatMap((step) => ('command' in step ? [step.command] : []))
    .find((each) => / --help$/.test(each));
}

describe('a group of commands in the plural or misspelt', () => {
  it('leads to the command of the group', () => {
    assert.equal(guessFor('secrets', 'list'), 'acor secret list --help');
    assert.equal(guessFor('secrets', 'set', 'TOKEN'), 'acor secret set --help');
    assert.equal(guessFor('secert', 'delete'), 'acor secret delete --help');
    assert.equal(guessFor('workflows', 'lst'), 'acor workflow list --help');
  });

  it('leads to its list when the second word is missing or unknown', () => {
    assert.equal(guessFor('secrets'), 'acor secret list --help');
    assert.equal(guessFor('secrets', 'frobnicate'), 'acor secret list --help');
  });

  it('is not found in a near command of one word', () => {
    assert.equal(guessFor('lst'), 'acor list --help');
    assert.equal(guessFor('runz', 'quick'), 'acor run --help');
  });
});
