import { emitter } from './emit.ts';

/** A background heartbeat; it ends by `stop`, with its `using` block, or with the final message. */
export interface Heartbeat extends Disposable, AsyncDisposable {
  stop(): void;
}

/**
 * Emits a `heartbeat` whenever nothing was emitted for `everyS` seconds. It says that the process lives, not that the
 * work advances: that is what `progress` says. After `maxSilentS` without a message of the work itself it falls
 * silent, so that the runner sees a tool that hangs.
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
