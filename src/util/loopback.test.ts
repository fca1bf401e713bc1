import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bearerToken, isOwnHost, isOwnOrigin, isSameSecret } from './loopback.ts';

describe('a server on the loopback interface', () => {
  it('knows the names of this machine, with any port, and no other name that resolves to it', () => {
    for (const host of ['localhost', 'localhost:7331', '127.0.0.1:80', '[::1]:7331', 'LOCALHOST:1'])
      assert.equal(isOwnHost(host), true, host);
    for (const host of [
      undefined,
      '',
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example:80',
      'evil@localhost',
      'localhost/x',
    ])
      assert.equal(isOwnHost(host), false, String(host));
  });

  it('accepts pages of this machine, and programs, which send no origin', () => {
    for (const origin of [undefined, 'http://localhost:5173', 'http://127.0.0.1'])
      assert.equal(isOwnOrigin(origin), true, String(origin));
    for (const origin of ['null', 'https://evil.example', 'file://'])
      assert.equal(isOwnOrigin(origin), false, origin);
  });

  it('compares secrets of any length', () => {
    assert.equal(isSameSecret('a'.repeat(40), 'a'.repeat(40)), true);
    for (const given of ['', 'a', 'a'.repeat(41), 'b'.repeat(40)])
      assert.equal(isSameSecret(given, 'a'.repeat(40)), false, given);
  });

  it('reads the token of a bearer alone', () => {
    assert.equal(bearerToken('Bearer abc'), 'abc');
    assert.equal(bearerToken('bearer  abc'), 'abc');
    for (const header of [undefined, 'Basic abc', 'Bearer', 'Bearer a b'])
      assert.equal(bearerToken(header), undefined, String(header));
  });
});
