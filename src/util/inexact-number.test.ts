import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inexactNumber } from './inexact-number.ts';

describe('a JSON text', () => {
  it('has a number that a program cannot hold', () => {
    for (const number of [
      '1e400',
      '-1e400',
      '12345678901234567890',
      '9007199254740993',
      '1e-400',
      '-0.0001e-400',
    ])
      for (const text of [number, `[1, ${number}]`, `{"a":{"b":${number}},"c":"1e400"}`, `{"a":${number}}`])
        assert.equal(inexactNumber(text), number, text);
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
    ])
      assert.equal(inexactNumber(text), undefined, text);
    assert.equal(inexactNumber('{"1e400":"12345678901234567890 \\" 1e400"}'), undefined);
    assert.equal(inexactNumber('"a\\nb 1e400"'), undefined);
  });
});
