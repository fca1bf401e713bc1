import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { Slots } from './engine.ts';

/** The names of those who have got a slot, in order. */
function askers(slots: Slots, signal: AbortSignal) {
  const got: string[] = [];
  const waits = new Map<string, Promise<(() => void) | undefined>>();
  const ask = (name: string) => {
    const wait = slots.take(signal).then((release) => {
      if (release !== undefined) got.push(name);
      return release;
    });
    waits.set(name, wait);
    return wait;
  };
  return { got, ask, release: async (name: string) => (await waits.get(name))!() };
}

/** Lets everything that is ready go on. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('slots', () => {
  it('let so many go on at once, and the others in the order in which they asked', async () => {
    const { got, ask, release } = askers(new Slots(2), new AbortController().signal);
    for (const name of ['a', 'b', 'c', 'd', 'e']) void ask(name);
    await settle();
    assert.deepEqual(got, ['a', 'b']);
    await release('b');
    await settle();
    assert.deepEqual(got, ['a', 'b', 'c']);
    await release('a');
    await release('c');
    await settle();
    assert.deepEqual(got, ['a', 'b', 'c', 'd', 'e']);
    await release('d');
    await release('e');
    assert.equal(
      (await Promise.all([ask('f'), ask('g')])).every((each) => each !== undefined),
      true,
    );
  });

  it('give none to those who wait when the work is stopped, and none after it', async () => {
    const stop = new AbortController();
    const { got, ask, release } = askers(new Slots(1), stop.signal);
    await ask('a');
    const waiting = [ask('b'), ask('c')];
    await settle();
    stop.abort();
    assert.deepEqual(await Promise.all(waiting), [undefined, undefined]);
    await release('a');
    assert.equal(await ask('d'), undefined);
    assert.deepEqual(got, ['a']);
  });

  it('keep a slot for which no task waits any more', async () => {
    const stop = new AbortController();
    const slots = new Slots(1);
    const release = await slots.take(new AbortController().signal);
    const waiting = slots.take(stop.signal);
    await settle();
    stop.abort();
    assert.equal(await waiting, undefined);
    release!();
    assert.notEqual(await slots.take(new AbortController().signal), undefined);
  });

  it('leave no listener behind', async () => {
    const { signal } = new AbortController();
    const { ask, release } = askers(new Slots(1), signal);
    await ask('a');
    void ask('b');
    await settle();
    assert.equal(getEventListeners(signal, 'abort').length, 1);
    await release('a');
    await settle();
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });
});
