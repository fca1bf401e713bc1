import {
  type ActionFields,
  type ErrorFields,
  type Fields,
  type LogLevel,
  ProtocolEmitter,
  type ResultFields,
} from './protocol-emitter.ts';

/** The emitter behind the functions of this module. */
export const emitter = new ProtocolEmitter();

/** Writes a message of any type. */
export function emit(type: string, fields: Fields = {}): void {
  emitter.emit(type, fields);
}

/** Emit once, first: what the tool starts, and its inputs. */
export function emitStart(step: string, args: Fields = {}, more: Fields = {}): void {
  emitter.emitStart(step, args, more);
}

/** Reports the progress in per cent. */
export function emitProgress(step: string, pct: number, msg = '', more: Fields = {}): void {
  emitter.emitProgress(step, pct, msg, more);
}

/** A sign of life from the work itself. */
export function emitHeartbeat(step: string, more: Fields = {}): void {
  emitter.emitHeartbeat(step, more);
}

/** Asks a question without waiting: `msg` is the question in words, the other fields are its context. Returns the `action_id` for `answerTo`. */
export function emitAction(action: string, fields: ActionFields = {}): string {
  return emitter.emitAction(action, fields);
}

/** Reports success with the outcome; the last message of a tool. */
export function emitResult(fields: ResultFields = {}): void {
  emitter.emitResult(fields);
}

/** Reports a failure and its fix; the last message of a tool. */
export function emitError(code: string, msg: string, fields: ErrorFields = {}): void {
  emitter.emitError(code, msg, fields);
}

/** A remark for readers of the events. */
export function emitLog(level: LogLevel, msg: string, more: Fields = {}): void {
  emitter.emitLog(level, msg, more);
}

/** Passes a record to the next tool in a pipe. */
export function emitRecord(record: Fields): void {
  emitter.emitRecord(record);
}

/** Reports that the tool stopped after a cancel request; `checkCancel` calls it for you. */
export function emitCancelled(reason: string): void {
  emitter.emitCancelled(reason);
}

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
