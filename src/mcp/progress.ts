import { LineReader } from '../protocol/jsonl.ts';
import { boundedText } from './bounded-text.ts';

const PER_SECOND = 4;
const BURST = 10;
const LEAST_STEP = 0.001;
const MAX_MESSAGE_CHARS = 300;

/** A sign of life of a run; fields that the tool did not send are undefined. */
export interface LifeSign {
  pct: number | undefined;
  msg: string | undefined;
}

const MARKS = [Buffer.from('"progress"'), Buffer.from('"heartbeat"')];

/** The content of a progress notification besides its token. */
export interface Progress {
  progress: number;
  total?: number;
  message?: string;
}

/**
 * Converts the signs of life of a run to progress that always increases, at a limited rate. A heartbeat repeats the
 * last message, which resets the client's timeout.
 */
export class ProgressTeller {
  readonly #send: (progress: Progress) => void;
  #value = -LEAST_STEP;
  #message: string | undefined;
  #hasTotal = false;
  #tokens = BURST;
  #refilledAt = performance.now();

  constructor(send: (progress: Progress) => void) {
    this.#send = send;
  }

  emit({ pct, msg }: LifeSign): void {
    if (pct !== undefined) this.#hasTotal = true;
    if (msg !== undefined) this.#message = boundedText(msg, MAX_MESSAGE_CHARS);
    if (!this.#mayReport()) return;
    const percent = Math.min(100, pct ?? 0);
    this.#value = percent > this.#value ? percent : this.#value + LEAST_STEP;
    this.#send({
      progress: this.#value,
      ...(this.#hasTotal && { total: 100 }),
      ...(this.#message !== undefined && { message: this.#message }),
    });
  }

  #mayReport(): boolean {
    const now = performance.now();
    this.#tokens = Math.min(BURST, this.#tokens + ((now - this.#refilledAt) / 1000) * PER_SECOND);
    this.#refilledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }
}

/** The signs of life in a batch of events. */
export function lifeSignsIn(lines: Uint8Array): LifeSign[] {
  const bytes = Buffer.from(lines.buffer, lines.byteOffset, lines.length);
  // Most batches of a busy tool contain no such event, and need not be parsed.
  if (!MARKS.some((mark) => bytes.includes(mark))) return [];
  const signs: LifeSign[] = [];
  const reader = new LineReader((_, start, end) => {
    const event = JSON.parse(bytes.toString('utf8', start, end));
    if (event.type === 'progress' || event.type === 'heartbeat') signs.push(lifeSign(event));
  }, lines.length);
  reader.push(bytes);
  return signs;
}

/** The content of a progress or heartbeat event. */
export function lifeSign({ pct, msg, step }: Readonly<Record<string, unknown>>): LifeSign {
  return {
    pct: typeof pct === 'number' ? pct : undefined,
    msg: typeof msg === 'string' ? msg : typeof step === 'string' ? step : undefined,
  };
}
