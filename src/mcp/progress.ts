import { rateLimit } from '../util/rate-limit.ts';
import { boundedText } from './bounded-text.ts';
import { eventsIn } from './events-in.ts';

const RATE = { perSecond: 4, burst: 10 };
const LEAST_STEP = 0.001;
const MAX_MESSAGE_CHARS = 300;

/** A sign of life of a run; fields that the tool did not send are undefined. */
export interface LifeSign {
  pct: number | undefined;
  msg: string | undefined;
}

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
  readonly #rate = rateLimit(RATE);

  constructor(send: (progress: Progress) => void) {
    this.#send = send;
  }

  emit({ pct, msg }: LifeSign): void {
    if (pct !== undefined) this.#hasTotal = true;
    if (msg !== undefined) this.#message = boundedText(msg, MAX_MESSAGE_CHARS);
    if (!this.#rate.tryRemoveTokens(1)) return;
    const percent = Math.min(100, pct ?? 0);
    this.#value = percent > this.#value ? percent : this.#value + LEAST_STEP;
    this.#send({
      progress: this.#value,
      ...(this.#hasTotal && { total: 100 }),
      ...(this.#message !== undefined && { message: this.#message }),
    });
  }
}

/** The signs of life in a batch of events. */
export function lifeSignsIn(lines: Uint8Array): LifeSign[] {
  return eventsIn(lines, ['progress', 'heartbeat']).map(lifeSign);
}

/** The content of a progress or heartbeat event. */
export function lifeSign({ pct, msg, step }: Readonly<Record<string, unknown>>): LifeSign {
  return {
    pct: typeof pct === 'number' ? pct : undefined,
    msg: typeof msg === 'string' ? msg : typeof step === 'string' ? step : undefined,
  };
}
