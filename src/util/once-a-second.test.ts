import assert from 'node:assert/strict';
import { it } from 'node:test';
import { until } from '../../test/support/project.ts';
import { onceASecond } from './once-a-second.ts';

it('what hardly changes is read once for all that ask within a second, and again later', async () => {
  let reads = 0;
  const read = onceASecond(() => ++reads);
  const begunMs = performance.now();
  assert.equal(read(), 1);
  if (performance.now() - begunMs < 1000) assert.equal(read(), 1);
  await until(() => performance.now() - begunMs > 1100);
  assert.equal(read(), 2);
});
