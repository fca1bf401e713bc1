import type {
  ControlChannel,
  ControlHandlers,
  ControlListener,
  PostedAnswer,
  RecordsReader,
} from '../ports/control-channel.ts';

/** The pending requests to one run, and its listeners. */
interface Requests {
  reason: string | undefined;
  isForced: boolean;
  answers: PostedAnswer[];
  consumed: number | undefined;
  listeners: Set<MemoryListener>;
}

/** Requests to live runs within one process, as direct calls. */
export class MemoryControlChannel implements ControlChannel {
  readonly #requests = new Map<string, Requests>();

  async requestCancel(runId: string, reason: string, options: { force?: boolean } = {}): Promise<void> {
    const requests = this.#of(runId);
    requests.reason ??= reason;
    requests.isForced ||= options.force === true;
    this.#notify(requests);
  }

  async postAnswer(runId: string, posted: PostedAnswer): Promise<void> {
    const requests = this.#of(runId);
    requests.answers.push(posted);
    this.#notify(requests);
  }

  readRecords(runId: string): RecordsReader {
    const requests = this.#of(runId);
    requests.consumed = 0;
    return {
      acknowledge: (consumedBytes) => {
        requests.consumed = consumedBytes;
      },
      close: () => {},
    };
  }

  listen(runId: string, handlers: ControlHandlers): ControlListener {
    const requests = this.#of(runId);
    const listener = new MemoryListener(requests, handlers);
    requests.listeners.add(listener);
    this.#notify(requests);
    return listener;
  }

  async reset(runId: string): Promise<void> {
    const { listeners } = this.#of(runId);
    this.#requests.set(runId, { ...nothing(), listeners });
  }

  #of(runId: string): Requests {
    const requests = this.#requests.get(runId) ?? nothing();
    this.#requests.set(runId, requests);
    return requests;
  }

  /** Calls listeners asynchronously, as with requests of another process: never while the request is made. */
  #notify(requests: Requests): void {
    setImmediate(() => {
      for (const listener of requests.listeners) listener.look();
    });
  }
}

class MemoryListener implements ControlListener {
  readonly #requests: Requests;
  readonly #handlers: ControlHandlers;
  #isCancelled = false;
  #isForced = false;

  constructor(requests: Requests, handlers: ControlHandlers) {
    this.#requests = requests;
    this.#handlers = handlers;
  }

  consumed(): number | undefined {
    return this.#requests.consumed;
  }

  close(): void {
    this.#requests.listeners.delete(this);
  }

  look(): void {
    const { reason, isForced, answers } = this.#requests;
    if (reason !== undefined && !this.#isCancelled) {
      this.#isCancelled = true;
      this.#handlers.onCancel(reason);
    }
    if (isForced && !this.#isForced) {
      this.#isForced = true;
      this.#handlers.onForceCancel();
    }
    for (const posted of answers.splice(0)) this.#handlers.onAnswer(posted);
  }
}

function nothing(): Requests {
  return { reason: undefined, isForced: false, answers: [], consumed: undefined, listeners: new Set() };
}
