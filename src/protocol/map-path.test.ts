import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseMapPath, valueAt } from './map-path.ts';

const at = (message: unknown, text: string): unknown => {
  const path = parseMapPath(text);
  assert.ok(path, `${text} is a path`);
  return valueAt(message, path);
};

describe('a path into a message', () => {
  it('leads through fields, lists and odd names to a value, or to the whole', () => {
    const message = { a: { 'b-c': [{ d: 1 }, { 'odd "name"': 2 }] }, x: null };
    assert.equal(at(message, '$.a.b-c[0].d'), 1);
    assert.equal(at(message, '$.a["b-c"][1]["odd \\"name\\""]'), 2);
    assert.equal(at(message, '$.x'), null);
    assert.equal(at(message, '$'), message);
  });

  it('is undefined for a missing value, and never finds inherited properties', () => {
    for (const text of [
      '$.b',
      '$.a.b.c',
      '$.list[3]',
      '$.text[0].x',
      '$.toString',
      '$.constructor.name',
      '$.__proto__',
    ])
      assert.equal(at({ a: {}, list: [1], text: 'x' }, text), undefined, text);
  });

  it('may have a factor, for numbers and texts that are one, and drops digits that only the calculation produced', () => {
    assert.equal(at({ done: 0.07 }, '$.done * 100'), 7);
    assert.equal(at({ ms: 1500 }, '$.ms*0.001'), 1.5);
    assert.equal(at({ ms: '1500' }, '$.ms * 0.001'), 1.5);
    for (const ms of ['1500 ms', '', true, null]) assert.equal(at({ ms }, '$.ms * 0.001'), undefined);
  });

  it('is nothing else', () => {
    for (const text of [
      '',
      'a',
      '.a',
      '$a',
      '$.',
      '$..a',
      '$.a[',
      '$.a[-1]',
      '$[a]',
      '$["a]',
      '$.a * b',
      '$.a * ',
      '$.a + 1',
      '$.a b',
    ])
      assert.equal(parseMapPath(text), undefined, text);
  });
});
