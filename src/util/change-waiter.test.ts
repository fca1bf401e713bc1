import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { until } from '../../test/support/project.ts';
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

it('a waiter polls a file that is young, and then watches it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'acor-waiter-'));
  const file = join(folder, 'log');
  writeFileSync(file, '');
  // Without a watch and a poll this would wait for an hour.
  const waiter = new ChangeWaiter(file, NEVER_MS, { afterMs: 50 });
  const begunMs = performance.now();
  for (let polls = 0; polls < 3; polls++) await waiter.change();
  // The wait after that looks once for what has changed before the watch.
  await until(() => performance.now() - begunMs > 50);
  await waiter.change();
  const changed = waiter.change();
  appendFileSync(file, 'more');
  await changed;
  waiter.close();
  rmSync(folder, { recursive: true });
});
