import { nextActionId } from './answers.ts';
import type { Artifact } from './artifact.ts';
import { runId, traceFields } from './run-context.ts';
import { writeLine } from './write-line.ts';

/** Fields of a message beyond its envelope. */
export type Fields = Record<string, unknown>;

/** The usual fields of a `result`; further fields are kept. */
export interface ResultFields extends Fields {
  status?: string;
  artifacts?: readonly (Artifact | { path: string })[];
  metrics?: Fields;
  data?: unknown;
}

/** The fields of a question: those besides `msg` are its context. */
export interface ActionFields extends Fields {
  /** The question in words. */
  msg?: string;
}

/** The usual fields of an `error` besides code and message; further fields are kept. */
export interface ErrorFields extends Fields {
  hint?: string;
  retryable?: boolean;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'warning' | 'error' | 'critical';

const FINAL_TYPES: ReadonlySet<string> = new Set(['result', 'error', 'cancelled']);

/** Writes protocol v1 messages (contract §1), one JSON object per line. */
export class ProtocolEmitter {
  readonly runId: string;
  /** The last named step, which a background heartbeat repeats. */
  step = '';
  /** Whether the final message was written; no message may follow it. */
  ended = false;
  /** On the clock of `performance.now()`; a background heartbeat updates only the first of the two. */
  lastLineMs = performance.now();
  lastSignOfWorkMs = performance.now();

  constructor(options: { runId?: string } = {}) {
    this.runId = options.runId ?? runId();
  }

  emit(type: string, fields: Fields = {}): void {
    const envelope = {
      v: 1,
      type,
      ts: new Date().toISOString(),
      run_id: this.runId,
      ...traceFields(),
    };
    // Twice, so that the envelope comes first and no field replaces it.
    writeLine(JSON.stringify({ ...envelope, ...fields, ...envelope }, plainValue));
    if (typeof fields['step'] === 'string') this.step = fields['step'];
    if (FINAL_TYPES.has(type)) this.ended = true;
    this.lastLineMs = this.lastSignOfWorkMs = performance.now();
  }

  emitStart(step: string, args: Fields = {}, more: Fields = {}): void {
    this.emit('start', { step, args, ...more });
  }

  emitProgress(step: string, pct: number, msg = '', more: Fields = {}): void {
    this.emit('progress', { step, pct: percent(pct), msg, ...more });
  }

  emitHeartbeat(step: string, more: Fields = {}): void {
    this.emit('heartbeat', { step, ...more });
  }

  emitAction(action: string, { msg, ...context }: ActionFields = {}): string {
    const actionId = nextActionId(action);
    const words = msg === undefined ? {} : { msg };
    this.emit('action_required', { action, action_id: actionId, context, blocking: false, ...words });
    return actionId;
  }

  emitResult(fields: ResultFields = {}): void {
    this.emit('result', { status: 'ok', ...fields });
  }

  emitError(code: string, msg: string, fields: ErrorFields = {}): void {
    this.emit('error', { code, msg, hint: '', ...fields });
  }

  emitLog(level: LogLevel, msg: string, more: Fields = {}): void {
    this.emit('log', { level, msg, ...more });
  }

  emitRecord(record: Fields): void {
    this.emitLog('info', 'record', { record });
  }

  emitCancelled(reason: string): void {
    this.emit('cancelled', { reason });
  }

  /** A background sign of life, which reports no progress. */
  beat(step: string): void {
    const { lastSignOfWorkMs } = this;
    this.emitHeartbeat(step);
    this.lastSignOfWorkMs = lastSignOfWorkMs;
  }
}

/** Limited to 0 … 100, rounded to hundredths. */
function percent(pct: number): number {
  return Math.round(Math.min(100, Math.max(0, pct || 0)) * 100) / 100;
}

function plainValue(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
