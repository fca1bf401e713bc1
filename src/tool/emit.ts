import {
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

/** Says once, first, what begins and with what. */
export function emitStart(step: string, args: Fields = {}, more: Fields = {}): void {
  emitter.emitStart(step, args, more);
}

/** Says how far the work is, in per cent. */
export function emitProgress(step: string, pct: number, msg = '', more: Fields = {}): void {
  emitter.emitProgress(step, pct, msg, more);
}

/** A sign of life from the work itself. */
export function emitHeartbeat(step: string, more: Fields = {}): void {
  emitter.emitHeartbeat(step, more);
}

/** Puts a question and goes on without waiting; returns the `action_id` that `answerTo` takes. */
export function emitAction(action: string, context: Fields = {}): string {
  return emitter.emitAction(action, context);
}

/** Says that the work is done, and with what outcome; the last message of a tool. */
export function emitResult(fields: ResultFields = {}): void {
  emitter.emitResult(fields);
}

/** Says what went wrong and how to put it right; the last message of a tool. */
export function emitError(code: string, msg: string, fields: ErrorFields = {}): void {
  emitter.emitError(code, msg, fields);
}

/** A remark for whoever reads the events. */
export function emitLog(level: LogLevel, msg: string, more: Fields = {}): void {
  emitter.emitLog(level, msg, more);
}

/** Hands a record on to the tool that comes next in a pipe. */
export function emitRecord(record: Fields): void {
  emitter.emitRecord(record);
}

/** Says that the tool stopped because it was told to; `checkCancel` does it for you. */
export function emitCancelled(reason: string): void {
  emitter.emitCancelled(reason);
}
