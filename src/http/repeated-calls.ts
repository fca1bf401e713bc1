import { createHash } from 'node:crypto';
import type { Envelope } from '../compose/envelope.ts';
import type { Principal } from '../operations/acor-app.ts';
import { HttpError } from './http-error.ts';
import type { NextRequest } from './next-requests.ts';

const MAX_KEPT = 1000;

interface IdempotencyKey {
  client: Principal;
  text: string;
}

interface Kept {
  digest: string;
  answer: Promise<Envelope<NextRequest>>;
}

/**
 * The answers of calls with an idempotency key: the same call of the same client again, also one at the same time, gets the same answer.
 * Another client may read less or more, so its keys are its own.
 */
export class RepeatedCalls {
  /** The oldest first. */
  readonly #kept = new Map<string, Kept>();

  async once(
    { client, text }: IdempotencyKey,
    call: unknown,
    answerOf: () => Promise<Envelope<NextRequest>>,
  ): Promise<Envelope<NextRequest>> {
    const digest = createHash('sha256').update(JSON.stringify(call)).digest('base64url');
    const key = JSON.stringify([client, text]);
    const kept = this.#kept.get(key);
    if (kept === undefined) {
      const answer = answerOf();
      this.#kept.set(key, { digest, answer });
      for (const oldest of this.#kept.keys()) {
        if (this.#kept.size <= MAX_KEPT) break;
        this.#kept.delete(oldest);
      }
      return answer;
    }
    if (kept.digest === digest) return kept.answer;
    throw new HttpError(422, 'E_USAGE', 'the idempotency key belongs to another call', {
      hint: 'Use a new key for each call, and the same key only to repeat it.',
    });
  }
}
