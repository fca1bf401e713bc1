import type {
  CancelOptions,
  ControlChannel,
  ControlHandlers,
  ControlListener,
  PostedAnswer,
  RecordsReader,
} from '../ports/control-channel.ts';
import type { MemoryLeases } from './memory-leases.ts';

/** The pending requests to one run, and its listeners. */
interface Requests {
  cancel: { reason: string; by: string | undefined } | undefined;
  isForced: boolean;
  answers: PostedAnswer[];
  consumed: number | undefined;
  listeners: Set<MemoryListener>;
}

/** Requests to live runs within one process, as direct calls. */
export class MemoryControlChannel implements ControlChannel {
  readonly #requests = new Map<string, Requests>();
  readonly #leases: MemoryLeases;

  constructor(leases: MemoryLeases) {
    this.#leases = leases;
  }

  async requestCancel(runId: string, reason: string, options: CancelOptions = {}): Promise<void> {
    const requests = this.#of(runId);
    requests.cancel ??= { reason, by: options.by };
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

  listen(runId: string, epoch: number, handlers: ControlHandlers): ControlListener {
    const requests = this.#of(runId);
    const listener = new MemoryListener(requests, () => this.#leases.isHeldNow(runId, epoch), handlers);
    requests.listeners.add(listener);
    this.#notify(requests);
    return listener;
  }

  async reset(runId: string, epoch: number): Promise<void> {
    // The listeners stay: they hold the same object.
    if (this.#leases.isHeldNow(runId, epoch)) Object.assign(this.#of(runId), noRequests());
  }

  #of(runId: string): Requests {
    const requests = this.#requests.get(runId) ?? { ...noRequests(), listeners: new Set() };
    this.#requests.set(runId, requests);
    return requests;
  }

  /** Calls listeners asynchronously, as with requests of another process: never while the request is made. */
  #notify(requests: Requests): void {
    setImmediate(() => {
      for (const listener of requests.listeners) listener.hear();
    });
  }
}

class MemoryListener implements ControlListener {
  readonly #requests: Requests;
  readonly #isHeld: () => boolean;
  readonly #handlers: ControlHandlers;
  #isCancelled = false;
  #isForced = false;

  constructor(requests: Requests, isHeld: () => boolean, handlers: ControlHandlers) {
    this.#requests = requests;
    this.#isHeld = isHeld;
    this.#handlers = handlers;
  }

  consumed(): number | undefined {
    return this.#requests.consumed;
  }

  close(): void {
    this.#requests.listeners.delete(this);
  }

  async look(): Promise<void> {
    this.hear();
  }

  hear(): void {
    const { cancel, isForced, answers } = this.#requests;
    if (cancel !== undefined && !this.#isCancelled) {
      this.#isCancelled = true;
      this.#handlers.onCancel(cancel.reason, cancel.by);
    }
    if (isForced && !this.#isForced) {
      this.#isForced = true;
      this.#handlers.onForceCancel();
    }
    if (!this.#isHeld()) return;
    for (const posted of answers.splice(0)) this.#handlers.onAnswer(posted);
  }
}

function noRequests(): Omit<Requests, 'listeners'> {
  return { cancel: undefined, isForced: false, answers: [], consumed: undefined };
}
