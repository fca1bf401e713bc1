import assert from 'node:assert/strict';
import { test } from 'node:test';
import { greeting } from './greeting.ts';

test('it names whom it greets', () => {
  assert.equal(greeting('Ada'), 'Hello, Ada!');
});
