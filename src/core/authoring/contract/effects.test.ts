import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { effectOf, verbsOf } from './effects.ts';

describe('the effect of a command', () => {
  for (const [name, text, effect] of [
    ['list', 'List all items', 'reads'],
    ['ls', '', 'reads'],
    ['delete', 'Delete an item', 'destroys'],
    ['items', 'Deletes an item', 'destroys'],
    ['add', 'Add an item', 'writes'],
    ['branch', 'List, create, or delete branches', 'destroys'],
    ['tag', 'Create, list, delete or verify a tag', 'destroys'],
    ['log-level', 'Get/set logging threshold for manager', 'writes'],
    ['daemon-reload', 'Reload systemd manager configuration', 'writes'],
    ['log', 'Show commit logs', 'reads'],
    ['diff', 'Show changes between commits, commit and working tree, etc', 'reads'],
    ['update', 'update list of available packages', 'writes'],
    ['frobnicate', 'Frobnicate the thing', 'unknown'],
  ] as const)
    it(`'${name}: ${text}' is '${effect}'`, () => assert.equal(effectOf({ name, text }), effect));

  it('takes only the verbs with which the summary begins', () => {
    assert.deepEqual(verbsOf('Clean install a project'), ['clean']);
    assert.deepEqual(verbsOf('Inspect changes to files'), ['inspect']);
    assert.deepEqual(verbsOf('List, create, or delete branches'), ['list', 'create', 'delete']);
  });
});
