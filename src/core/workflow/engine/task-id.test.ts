import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { actionIdOf, stepOf, taskIdOf } from './task-id.ts';

describe('the id of a task', () => {
  it('encodes the separators in the name of its step, and gives the name back', () => {
    const names = { 'a.b': 'a%2eb', 'x[1]/y:z%': 'x%5b1%5d%2fy%3az%25', plain: 'plain', '100 %': '100 %25' };
    for (const [name, id] of Object.entries(names)) {
      assert.equal(taskIdOf(name), id);
      for (const part of ['', '[3]', '.2', '[3].part']) assert.equal(stepOf(`${id}${part}`), name);
    }
  });

  it('of an earlier version, with a bare percent sign, names its step too', () => {
    assert.equal(stepOf('50%off[0]'), '50%off');
  });
});

describe('the id of a question', () => {
  it('is the id of its task where that may be a file name', () => {
    assert.equal(actionIdOf('choose', undefined, 1), 'choose');
    assert.equal(actionIdOf('each[3]', undefined, 1), 'each.3');
    assert.equal(actionIdOf('-x_9.A', undefined, 1), '-x_9.A');
  });

  it('says what it is about, and how often its task has asked', () => {
    assert.equal(actionIdOf('choose', 'failed', 1), 'choose.failed');
    assert.equal(actionIdOf('choose', undefined, 2), 'choose.again-2');
    assert.equal(actionIdOf('choose', 'failed', 3), 'choose.failed.again-3');
  });

  it('is safe and unique where the id of its task is neither', () => {
    assert.match(actionIdOf('a b', undefined, 1), /^q-a_b-[0-9a-f]{8}$/);
    assert.notEqual(actionIdOf('a b', undefined, 1), actionIdOf('a/b', undefined, 1));
    assert.match(actionIdOf('.hidden', undefined, 1), /^q-\.hidden-[0-9a-f]{8}$/);
    assert.equal(actionIdOf('x'.repeat(100), undefined, 1), 'x'.repeat(100));
    assert.match(actionIdOf('x'.repeat(101), undefined, 1), /^q-x{100}-[0-9a-f]{8}$/);
  });
});
