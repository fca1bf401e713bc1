import type {
  BlockedData,
  CompleteData,
  FilesData,
  Marker,
  QuestionData,
} from '../../protocol/markers/marker.ts';
import type { AdapterContext } from '../run/attempt/adapter.ts';
import type { FileClaims } from './file-claims.ts';

/** What a program waits for. */
export interface Blocked {
  reason: string;
  actionId: string;
}

/** Converts markers to events (contract §8), whatever program printed them, and in whatever stream. */
export class MarkerEvents {
  readonly #context: AdapterContext;
  readonly #files: FileClaims;
  #questions = 0;
  #blocked: Blocked | undefined;
  #complete: CompleteData | undefined;

  constructor(context: AdapterContext, files: FileClaims) {
    this.#context = context;
    this.#files = files;
  }

  /** What blocked the program at the end; undefined when it continued. */
  get blocked(): Blocked | undefined {
    return this.#blocked;
  }

  get complete(): CompleteData | undefined {
    return this.#complete;
  }

  /** The question was answered, so it no longer blocks. */
  answered(actionId: string): void {
    if (this.#blocked?.actionId === actionId) this.#blocked = undefined;
  }

  take({ name, data, cut }: Marker): void {
    // A program that makes progress is not blocked. A completion says nothing: scripts print it by themselves at their end.
    if (name === 'PROGRESS') this.#blocked = undefined;
    switch (name) {
      case 'PROGRESS':
        this.#context.intake.accept({ type: 'progress', ...data });
        return;
      case 'QUESTION':
        this.#ask(data as QuestionData);
        return;
      case 'BLOCKED':
        this.#block(data as BlockedData);
        return;
      case 'FILES_MODIFIED':
        for (const { path, change } of (data as FilesData).files) this.#files.add(path, change);
        break;
      case 'CODEX_COMPLETE':
        this.#complete = data as CompleteData;
        break;
      default:
    }
    this.#context.intake.accept({
      type: 'log',
      level: 'info',
      msg: name,
      marker: name,
      data,
      ...(cut && { cut }),
    });
  }

  #ask({ question, options, context }: QuestionData): void {
    const numbers = new Set(options.map(({ number }) => number));
    const choices = options.map(({ number, label, description }, index) => ({
      id: String(numbers.size === options.length ? number : index + 1),
      label,
      ...(description !== '' && { description }),
    }));
    this.#context.intake.accept({
      type: 'action_required',
      action: 'question',
      action_id: this.#nextId(),
      msg: question,
      ...(context !== '' && { context: { text: context } }),
      // Free text other than these is also an answer.
      ...(choices.length > 0 && { options: choices, schema: { type: 'string' } }),
      blocking: false,
    });
  }

  #block({ reason, context }: BlockedData): void {
    const actionId = this.#nextId();
    this.#blocked = { reason, actionId };
    this.#context.intake.accept({
      type: 'action_required',
      action: 'blocked',
      action_id: actionId,
      msg: reason,
      ...(context !== '' && { context: { text: context } }),
      blocking: true,
    });
  }

  #nextId(): string {
    return attemptId(`q-${++this.#questions}`, this.#context.attempt);
  }
}

/** An id that is unique to the attempt: an answer to an earlier attempt must not answer this question. */
export function attemptId(id: string, attempt: number): string {
  return attempt === 1 ? id : `${id}.${attempt}`;
}

/** The error of an attempt whose program exited while it was blocked: it could not wait for an answer. */
export function blockedError(
  { reason, actionId }: Blocked,
  next: string,
): Record<string, unknown> & { type: string } {
  return {
    type: 'error',
    code: 'E_ACTION_REQUIRED',
    msg: `it is blocked: ${reason}`,
    hint: `Provide what it asks for, and start it again${next}.`,
    retryable: false,
    action_id: actionId,
  };
}
