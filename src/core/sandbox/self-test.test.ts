import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { bubblewrap } from './backends/bubblewrap.ts';
import { none } from './backends/none.ts';
import { selfTest, tryEgress } from './self-test.ts';

const probe = await bubblewrap.probe();
const skip = probe.available ? false : `bubblewrap is not available here (${probe.detail})`;

it('a sandbox withstands each attack of the self-test, and lets through to the one opened server', {
  skip,
}, async () => {
  assert.deepEqual(await selfTest(bubblewrap, probe), { breaches: [], trouble: undefined });
  assert.equal(await tryEgress(bubblewrap, probe), undefined);
});

// In a container each process may have a filter.
const isFiltered = !/^Seccomp:\t0$/m.test(readFileSync('/proc/self/status', 'utf8'));

it('without a sandbox attacks of the self-test succeed', {
  skip: isFiltered && 'this process has a filter',
}, async () => {
  const { breaches } = await selfTest(none, await none.probe());
  assert.ok(breaches.includes('runs without a seccomp filter'), breaches.join(', '));
});
