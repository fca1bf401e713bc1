import { emitter } from './emit.ts';

/** A background heartbeat. It ends with `stop`, with its `using` block, or with the final message. */
export interface Heartbeat extends Disposable, AsyncDisposable {
  stop(): void;
}

/**
 * Emits a `heartbeat` whenever no event was emitted for `everyS` seconds. It shows that the process lives, not that the
 * work advances; use `progress` for that. After `maxSilentS` without a message of the work itself it stops, so that the
 * runner detects a hanging tool.
 */
export function startHeartbeat(
  options: { step?: string; everyS?: number; maxSilentS?: number } = {},
): Heartbeat {
  const everyMs = (options.everyS ?? 15) * 1000;
  const maxSilentMs = (options.maxSilentS ?? 1800) * 1000;
  let timer = setTimeout(tick, everyMs);
  timer.unref();

  function tick(): void {
    if (emitter.ended) return;
    const now = performance.now();
    if (now - emitter.lastLineMs >= everyMs && now - emitter.lastSignOfWorkMs < maxSilentMs) {
      emitter.beat(options.step ?? emitter.step);
    }
    const dueMs = emitter.lastLineMs + everyMs - performance.now();
    timer = setTimeout(tick, dueMs > 0 ? Math.ceil(dueMs) : everyMs);
    timer.unref();
  }

  const stop = (): void => clearTimeout(timer);
  return { stop, [Symbol.dispose]: stop, [Symbol.asyncDispose]: async () => stop() };
}
