import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  exactJson,
  inexactNumber,
  isTooDeep,
  lossOf,
  lossOfKey,
  parseExact,
  shownJson,
} from './exact-json.ts';

describe('a JSON text', () => {
  it('has a number that a program cannot hold', () => {
    for (const number of [
      '1e400',
      '-1e400',
      '12345678901234567890',
      '9007199254740993',
      '9007199254740993.00',
      '1e-400',
      '-0.0001e-400',
    ])
      for (const text of [number, `[1, ${number}]`, `{"a":{"b":${number}},"c":"1e400"}`, `{"a":${number}}`]) {
        const value = parseExact(text);
        assert.equal(inexactNumber(value), number, text);
        assert.equal(shownJson(value), text.replace(', ', ','));
        assert.equal(inexactNumber(parseExact(exactJson(value))), number, text);
      }
  });

  it('has numbers that are what they were', () => {
    for (const text of [
      '0',
      '-0',
      '0.1',
      '1e308',
      '5e-324',
      '9007199254740992',
      '1152921504606846976',
      '0e999',
      '0.00',
      '[1,2.5,-3e2]',
      '{"1e400":"12345678901234567890 \\" 1e400"}',
      '"a\\nb 1e400"',
    ]) {
      assert.deepEqual(parseExact(text), JSON.parse(text));
      assert.equal(inexactNumber(parseExact(text)), undefined, text);
    }
  });

  it('has a key twice in one object', () => {
    assert.match(lossOfKey('{"a":1,"b":{"a":2},"a" :3}')!.mistake, /the key 'a' twice/);
    assert.match(lossOfKey('[{"\\u0061":1,"a":2}]')!.mistake, /the key 'a' twice/);
    assert.equal(lossOfKey('{"a":{"b":1},"b":[{"a":1},{"a":2}],"c":"a\\":","d":"a"}'), undefined);
  });

  it('is checked when it is long', () => {
    const text = JSON.stringify({ a: 'x\n'.repeat(3_000_000) });
    assert.equal(lossOfKey(text), undefined);
    assert.equal(inexactNumber(parseExact(text)), undefined);
  });

  it('is nested deeper than what is passed on', () => {
    const loss = (text: string) => lossOf(text, JSON.parse(text));
    const nested = (depth: number) => '{"a":['.repeat(depth / 2) + ']}'.repeat(depth / 2);
    assert.equal(loss(nested(1_000)), undefined);
    for (const depth of [1_002, 200_000])
      assert.match(loss(nested(depth))!.mistake, /^must not be nested deeper than 1000 levels$/);
  });
});

describe('a value of a program', () => {
  it('has no depth that grows with its width, and an object that contains itself has no end of it', () => {
    assert.equal(isTooDeep(Array.from({ length: 100_000 }, () => [{}])), false);
    const own: Record<string, unknown> = {};
    Object.assign(own, { a: own, b: own });
    assert.equal(isTooDeep(own), true);
  });

  it('has a number that JSON cannot express', () => {
    for (const [value, shown] of [
      [Number.NaN, 'NaN'],
      [Number.NEGATIVE_INFINITY, '-Infinity'],
      [5n, '5n'],
    ] as const)
      assert.equal(inexactNumber(parseExact(exactJson({ a: [value] }))), shown);
    assert.equal(exactJson({ a: [1, 'x', null] }), '{"a":[1,"x",null]}');
  });
});
