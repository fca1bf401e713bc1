import assert from 'node:assert/strict';
import { it } from 'node:test';
import { DENIED, PLAIN, whyDenied } from './names.ts';

it('no variable that passes unchecked is one that is denied', () => {
  const denied = [...PLAIN].filter((name) => DENIED.some(({ names }) => names.test(name)));
  assert.deepEqual(denied, []);
  assert.equal(whyDenied('PATH'), undefined);
  assert.notEqual(whyDenied('LD_PRELOAD'), undefined);
});
