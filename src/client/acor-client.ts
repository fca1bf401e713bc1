import type { AnswerOf, FailedAnswer } from './answer.ts';
import type { OperationTypes } from './operation-types.ts';
import { readMessages, type StreamMessage } from './read-messages.ts';

export type Answer<N extends keyof OperationTypes> = AnswerOf<OperationTypes[N]['data']>;

export interface ClientOptions {
  /** Where `acor serve` listens, such as `http://127.0.0.1:7331/`. */
  url: string;
  /** The token of the server; a page of the dashboard has a cookie in place of it. */
  token?: string;
}

export interface CallOptions {
  /** Keep only these fields of the answer: dotted paths. */
  fields?: readonly string[];
  limit?: number;
  offset?: number;
  /** The same call again with the same key gets the answer of the first one. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

type ChangedRun = OperationTypes['run.list']['data']['runs'][number] & { seq: number };

/** What has changed in the runs of the project. */
export interface Changes {
  runs: ChangedRun[];
  /** The ids of runs that were removed. */
  removed: string[];
  /** The cursor was too old: everything may have changed. */
  isReset: boolean;
  /** Give it to `changes` to get what changes from now on. */
  cursor: string;
}

type Event = Record<string, unknown> & { type: string; seq: number };

/** A stream that the server refuses. */
export class HttpFailure extends Error {
  readonly status: number;
  readonly answer: FailedAnswer;

  constructor(status: number, answer: FailedAnswer) {
    super(answer.error.message);
    this.name = 'HttpFailure';
    this.status = status;
    this.answer = answer;
  }
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5000;

const CALL_OPTIONS = ['fields', 'limit', 'offset', 'idempotencyKey', 'signal'] as const;

/** Refuses an option that the function does not have: a program without types would not notice that it is ignored. */
function known<T extends object>(what: string, options: T, names: readonly (keyof T & string)[]): T {
  const unknown = Object.keys(options).find((name) => !names.some((each) => each === name));
  if (unknown === undefined) return options;
  throw new TypeError(`${what} has no option '${unknown}'. Its options: ${names.join(', ')}`);
}

/** Calls the operations of a project that `acor serve` serves. For browsers, Node and Bun. */
export class AcorClient {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(options: ClientOptions) {
    const { url, token } = known('new AcorClient', options, ['url', 'token']);
    this.#url = url;
    // Pages of other sites cannot send the first header.
    this.#headers = {
      'X-Acor-Client': '1',
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    };
  }

  /** Calls an operation. Its failure is the answer; only a server that is not reached makes it throw. */
  async call<N extends keyof OperationTypes>(
    operation: N,
    input: OperationTypes[N]['input'],
    options: CallOptions = {},
  ): Promise<Answer<N>> {
    const { fields, limit, offset, idempotencyKey, signal } = known('call', options, CALL_OPTIONS);
    const query = new URLSearchParams();
    if (fields !== undefined) query.set('fields', fields.join());
    if (limit !== undefined) query.set('limit', String(limit));
    if (offset !== undefined) query.set('offset', String(offset));
    const response = await fetch(new URL(`api/v1/${operation}?${query}`, this.#url), {
      method: 'POST',
      headers: {
        ...this.#headers,
        'Content-Type': 'application/json',
        ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
      },
      body: JSON.stringify(input),
      signal: signal ?? null,
    });
    return (await response.json()) as Answer<N>;
  }

  /**
   * What changes in the runs, without end. Reconnects by itself and then goes on where it was; `onConnection` hears of it. Throws
   * HttpFailure when the server refuses.
   */
  async *changes(
    options: { cursor?: string; signal?: AbortSignal; onConnection?: (isConnected: boolean) => void } = {},
  ): AsyncGenerator<Changes> {
    const names = ['cursor', 'signal', 'onConnection'] as const;
    const { cursor, signal, onConnection = () => {} } = known('changes', options, names);
    let last = cursor;
    const open = () => this.#messages('api/v1/stream', last, signal, onConnection);
    for await (const { event, id, data } of reconnecting(open, signal, onConnection)) {
      last = id;
      const isReset = event === 'reset';
      yield { runs: [], removed: [], ...JSON.parse(data), isReset, cursor: id };
    }
  }

  /** The events of a run after a `seq`, up to its end. Reconnects by itself. Throws HttpFailure when the server refuses. */
  async *events(run: string, options: { since?: number; signal?: AbortSignal } = {}): AsyncGenerator<Event> {
    const { since = 0, signal } = known('events', options, ['since', 'signal']);
    let last = since;
    const open = () => this.#messages(`api/v1/runs/${encodeURIComponent(run)}/events`, String(last), signal);
    for await (const { event, data } of reconnecting(open, signal)) {
      if (event === 'end') return;
      const read: Event = JSON.parse(data);
      last = read.seq;
      yield read;
    }
  }

  async *#messages(
    path: string,
    last: string | undefined,
    signal: AbortSignal | undefined,
    onConnection: (isConnected: boolean) => void = () => {},
  ): AsyncGenerator<StreamMessage> {
    const response = await fetch(new URL(path, this.#url), {
      headers: {
        ...this.#headers,
        Accept: 'text/event-stream',
        ...(last !== undefined && { 'Last-Event-ID': last }),
      },
      signal: signal ?? null,
    });
    if (!response.ok || response.body === null)
      throw new HttpFailure(response.status, (await response.json()) as FailedAnswer);
    onConnection(true);
    for await (const message of readMessages(response.body)) {
      // The server ends the stream: it says with which status when it is opened again.
      if (message.event === 'failure') return;
      yield message;
    }
  }
}

/** Opens a stream again when it breaks, at growing intervals. */
async function* reconnecting(
  open: () => AsyncGenerator<StreamMessage>,
  signal: AbortSignal | undefined,
  onConnection: (isConnected: boolean) => void = () => {},
): AsyncGenerator<StreamMessage> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    try {
      for await (const message of open()) {
        waitMs = FIRST_WAIT_MS;
        yield message;
      }
    } catch (error) {
      const isRefusal = error instanceof HttpFailure && error.status < 500 && error.status !== 429;
      if (signal?.aborted || isRefusal) throw error;
    }
    onConnection(false);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    signal?.throwIfAborted();
  }
}
