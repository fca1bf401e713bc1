import { digestOf } from '../compose/digest-of.ts';
import type { Envelope } from '../compose/envelope.ts';
import type { Principal } from '../operations/acor-app.ts';
import { HttpError } from './http-error.ts';
import type { NextRequest } from './next-requests.ts';

/** Of one client. */
const MAX_KEPT = 1000;
/** Of one client, in characters of its keys and answers as JSON; the newest answer is kept whatever its size. The clients of a server are configured. */
const MAX_LENGTH = 8 * 1024 * 1024;

interface IdempotencyKey {
  client: Principal;
  text: string;
}

interface Kept {
  digest: string;
  answer: Promise<Envelope<NextRequest>>;
  length: number;
}

/**
 * The answers of calls with an idempotency key: the same call of the same client again, also one at the same time, gets the same answer.
 * Another client may read less or more, so its keys are its own, and it pushes out no answer of others.
 */
export class RepeatedCalls {
  /** By client and then by key, the oldest first. */
  readonly #kept = new Map<string, Map<string, Kept>>();

  /** `request` is all that decides the answer; the order of its keys does not. Throws when the key belongs to another request. */
  async once(
    { client, text }: IdempotencyKey,
    request: unknown,
    answerOf: () => Promise<Envelope<NextRequest>>,
  ): Promise<Envelope<NextRequest>> {
    const digest = digestOf(request);
    const ofClient = this.#keptFor(client);
    const kept = ofClient.get(text);
    if (kept === undefined) {
      const answer = answerOf();
      const added = { digest, answer, length: text.length };
      ofClient.set(text, added);
      removeOldest(ofClient);
      added.length += JSON.stringify(await answer).length;
      removeOldest(ofClient);
      return answer;
    }
    if (kept.digest === digest) return kept.answer;
    throw new HttpError(422, 'E_USAGE', 'the idempotency key belongs to another request', {
      hint: 'Use a new key for each request, also for other fields of the answer, and the same key only to repeat it.',
    });
  }

  #keptFor(client: Principal): Map<string, Kept> {
    const name = JSON.stringify(client);
    let kept = this.#kept.get(name);
    if (kept === undefined) {
      kept = new Map();
      this.#kept.set(name, kept);
    }
    return kept;
  }
}

function removeOldest(kept: Map<string, Kept>): void {
  let length = 0;
  for (const each of kept.values()) length += each.length;
  for (const [key, each] of kept) {
    if (kept.size <= MAX_KEPT && (length <= MAX_LENGTH || kept.size === 1)) return;
    kept.delete(key);
    length -= each.length;
  }
}
