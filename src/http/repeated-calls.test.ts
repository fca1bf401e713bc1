import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { success } from '../compose/envelope.ts';
import type { Principal } from '../operations/acor-app.ts';
import { RepeatedCalls } from './repeated-calls.ts';

const CI: Principal = { kind: 'token', name: 'ci' };
const BUSY: Principal = { kind: 'token', name: 'busy' };

describe('the answers of idempotency keys', () => {
  it('are kept for each client by itself: a busy client pushes out its own and no others', async () => {
    const repeated = new RepeatedCalls();
    let calls = 0;
    const call = (client: Principal, text: string) =>
      repeated.once({ client, text }, {}, async () => success(++calls, { tool: 'acor', elapsed: 0 }));
    const first = await call(CI, 'key');
    const oldest = await call(BUSY, 'key');
    for (let count = 0; count < 1000; count++) await call(BUSY, `key-${count}`);
    assert.deepEqual(await call(CI, 'key'), first);
    // The control: the oldest answer of the busy client is gone.
    assert.notDeepEqual(await call(BUSY, 'key'), oldest);
  });

  it('are those of the same request whatever the order of the keys of its values', async () => {
    const repeated = new RepeatedCalls();
    const call = (input: object) =>
      repeated.once({ client: CI, text: 'key' }, { op: 'run.answer', input }, async () =>
        success(0, { tool: 'acor', elapsed: 0 }),
      );
    const first = await call({ run: 'r-1', value: { a: 1, b: { c: 2, d: 3 } } });
    assert.deepEqual(await call({ value: { b: { d: 3, c: 2 }, a: 1 }, run: 'r-1' }), first);
    // The control: another value is another request.
    await assert.rejects(call({ value: { b: { d: 3, c: 4 }, a: 1 }, run: 'r-1' }), { status: 422 });
  });
});
