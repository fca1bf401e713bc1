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

  it('go, the oldest first, when those of one client together are too large', async () => {
    const repeated = new RepeatedCalls();
    const megabyte = 'x'.repeat(1024 * 1024);
    let calls = 0;
    const call = (client: Principal, text: string, size: number) =>
      repeated.once({ client, text }, {}, async () =>
        success([++calls, megabyte.repeat(size)], { tool: 'acor', elapsed: 0 }),
      );
    const others = await call(CI, 'key', 1);
    const first = await call(BUSY, 'first', 1);
    const kept: unknown[] = [];
    for (let count = 0; count < 6; count++) kept.push(await call(BUSY, `key-${count}`, 1));
    // The control: together they are not yet too large.
    assert.equal(await call(BUSY, 'first', 1), first);
    kept.push(await call(BUSY, 'key-6', 1));
    for (const [count, answer] of kept.entries()) assert.equal(await call(BUSY, `key-${count}`, 1), answer);
    assert.notEqual(await call(BUSY, 'first', 1), first);
    assert.equal(await call(CI, 'key', 1), others);
    const large = await call(BUSY, 'large', 20);
    assert.equal(await call(BUSY, 'large', 20), large);
    const again = await call(BUSY, 'key-6', 1);
    assert.notEqual(again, kept[6]);
    assert.notEqual(await call(BUSY, 'large', 20), large);
  });

  it('are those of the same request whatever the order of the keys of its values', async () => {
    const repeated = new RepeatedCalls();
    const call = (input: object) =>
      repeated.once({ client: CI, text: 'key' }, { op: 'run.answer', input }, async () =>
        success(0, { tool: 'acor', elapsed: 0 }),
      );
    const first = await call({ run: 'r-1', value: { a: 1, b: { c: 2, d: 3 } } });
    assert.deepEqual(await call({ value: { b: { d: 3, c: 2 }, a: 1 }, run: 'r-1' }), first);
    // The controls: another value is another request, and so is a list in another order.
    const listed = (list: number[]) =>
      repeated.once({ client: CI, text: 'list' }, { list }, async () =>
        success(0, { tool: 'acor', elapsed: 0 }),
      );
    assert.deepEqual(await listed([1, 2]), await listed([1, 2]));
    await assert.rejects(listed([2, 1]), { status: 422 });
    await assert.rejects(call({ value: { b: { d: 3, c: 4 }, a: 1 }, run: 'r-1' }), { status: 422 });
  });
});
