import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ChangeWaiter } from './change-waiter.ts';

/** Longer than any test. */
const NEVER_MS = 3_600_000;

it('a waiter that is notified ends its wait, and the next one when it does not wait', async () => {
  const waiter = new ChangeWaiter(() => {}, NEVER_MS);
  const waited = waiter.change();
  waiter.notify();
  await waited;
  waiter.notify();
  await waiter.change();
  const again = waiter.change().then(() => 'ended');
  assert.equal(await Promise.race([again, Promise.resolve('waits')]), 'waits');
  waiter.notify();
  assert.equal(await again, 'ended');
  waiter.close();
});
