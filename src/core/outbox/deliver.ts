import { AcorError } from '../../protocol/acor-error.ts';
import { errorMessage } from '../../util/error-code.ts';
import { FolderWatch } from '../../util/folder-watch.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { RunStore } from '../ports/run-store.ts';
import type { Message } from './message.ts';
import { OutboxFiles } from './outbox-files.ts';
import { hasUntrustedReceivers, type KnownReceiver, receiversOf, sendSpans, sendTo } from './receivers.ts';
import { messagesOf, questionFor, type RunMessages } from './run-messages.ts';
import type { SentRun } from './telemetry/export-run.ts';

/** How long a receiver that has failed is left alone, by how often it has failed. */
const PAUSES_MS = [1_000, 5_000, 25_000, 120_000, 300_000, 900_000];
/** A message that no receiver took for so long is dropped. */
const GIVE_UP_MS = 3 * 24 * 3600 * 1000;
/** How often a process that serves looks for a changed configuration. */
const LOOK_MS = 60_000;
/** How soon such a process looks again while another one delivers, which may end without a word, and after a problem of the store. */
const SOON_MS = 2_000;
/** A supervisor writes the record of an ended run so soon after the end. */
const ENDING_MS = 100;

/** The parts of a project that the outbox needs. */
export interface OutboxHost {
  config: LoadedConfig;
  store: RunStore;
  workspaces: { root: string };
}

export interface Delivery {
  run_id: string;
  type: Message['type'];
  receiver: string;
  /** Null when the receiver took it. */
  error: string | null;
}

interface Options {
  /** Opens the project as it is now. */
  open: () => Promise<OutboxHost>;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  onDelivery?: (delivery: Delivery) => void;
}

/** What is left after a round. */
interface Rest {
  /** Messages that no receiver took yet, though they are due, and ended runs that are still in the outbox. */
  pending: number;
  /** When there will be something to do; null when only a change of a run can bring it. */
  nextMs: number | null;
}

/**
 * Delivers what the runs of a project have to say. One process of a project does it at a time. The messages are derived from the logs, and a
 * cursor for each run says which of them each receiver has, so that a message survives any crash. A receiver may get a message twice when the
 * process dies between sending and noting it; the id is the same then.
 */
export class Deliverer {
  readonly #options: Options;
  /** When a receiver that has failed may be tried again, by its id. */
  readonly #retryAtMs = new Map<string, number>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Delivers what is due now, also to receivers that have failed. Null when another process delivers, which then does so. */
  async once(): Promise<Rest | null> {
    const { files } = await this.#host();
    if (!files.exists()) return { pending: 0, nextMs: null };
    const release = files.claim();
    if (release === undefined) {
      files.askToRetry();
      return null;
    }
    try {
      return await this.#round();
    } finally {
      release();
    }
  }

  /** Delivers, and tries again for at most `forMs`. Returns at once when another process delivers. */
  async until(forMs: number): Promise<void> {
    const endMs = Date.now() + forMs;
    for (;;) {
      const { files } = await this.#host();
      const release = files.exists() ? files.claim() : undefined;
      if (release === undefined) return;
      try {
        for (;;) {
          const { pending, nextMs } = await this.#round();
          if (pending === 0 || nextMs === null || nextMs > endMs || this.#options.signal.aborted) break;
          await this.#wait(files, nextMs);
        }
      } finally {
        release();
      }
      // After the last round a run may have ended, whose process found the lock held and starts no deliverer.
      const { pending, nextMs } = await this.#round({ sends: false });
      if (pending === 0 || this.#options.signal.aborted || (nextMs ?? 0) > endMs) return;
    }
  }

  /** Delivers, reminds and escalates until the signal aborts. */
  async forever(): Promise<void> {
    const { signal } = this.#options;
    let release: (() => void) | undefined;
    try {
      while (!signal.aborted) {
        const host = await this.#host().catch(() => undefined);
        if (host === undefined || receiversOf(host.config).length === 0) {
          await this.#wait(undefined, Date.now() + LOOK_MS);
          continue;
        }
        let nextMs = Date.now() + SOON_MS;
        try {
          host.files.prepare();
          release ??= host.files.claim();
          if (release !== undefined) nextMs = await this.#nextRound();
        } catch {
          // A problem of the store is tried again.
        }
        await this.#wait(host.files, nextMs);
      }
    } finally {
      release?.();
    }
  }

  async #host(): Promise<OutboxHost & { files: OutboxFiles }> {
    const host = await this.#options.open();
    return { ...host, files: new OutboxFiles(host.workspaces.root) };
  }

  /** Delivers what is due. Returns when to look again. */
  async #nextRound(): Promise<number> {
    const { nextMs } = await this.#round();
    const latestMs = Date.now() + LOOK_MS;
    return Math.min(nextMs ?? latestMs, latestMs);
  }

  /** Delivers what is due; with `sends: false` it only finds what is left. */
  async #round({ sends } = { sends: true }): Promise<Rest> {
    const host = await this.#host();
    if (sends && host.files.isAskedToRetry) {
      host.files.forgetRetry();
      this.#retryAtMs.clear();
    }
    const receivers = receiversOf(host.config);
    const rest: Rest = { pending: 0, nextMs: null };
    const later = (ms: number) => {
      rest.nextMs = Math.min(rest.nextMs ?? ms, ms);
    };
    for (const runId of host.files.runs()) {
      if (this.#options.signal.aborted) break;
      rest.pending += await this.#ofRun(host, runId, receivers, { sends, later });
    }
    return rest;
  }

  /** Delivers what is due of a run; returns how many messages are still to be delivered. */
  async #ofRun(
    { store, files, config }: OutboxHost & { files: OutboxFiles },
    runId: string,
    receivers: readonly KnownReceiver[],
    { sends, later }: { sends: boolean; later: (ms: number) => void },
  ): Promise<number> {
    const cursor = files.cursor(runId) ?? { since: 0, delivered: {} };
    const project = config.config.project.name ?? '';
    let said: RunMessages;
    try {
      said = await messagesOf(store, runId, { since: cursor.since, project });
    } catch (error) {
      // Removed before it was delivered.
      if (error instanceof AcorError && error.code === 'E_RUN_NOT_FOUND') files.forget(runId);
      return 0;
    }
    const run = { store, runId, since: cursor.since, project, root: config.root };
    const nowMs = Date.now();
    const isOld = ({ timestamp }: Message) => nowMs - Date.parse(timestamp) > GIVE_UP_MS;
    if (said.isEnding) later(nowMs + ENDING_MS);
    let left = said.isEnding ? 1 : 0;
    await Promise.all(
      receivers.map(async (receiver) => {
        const has = new Set(cursor.delivered[receiver.id]);
        const due: Message[] = [];
        for (const { events, message } of said.others)
          if (receiver.after_s === undefined && events.some((each) => receiver.on.includes(each)))
            due.push(message);
        if (receiver.on.includes('question')) {
          for (const question of said.questions) {
            const { message, nextMs } = questionFor(receiver, question, nowMs);
            if (message !== null) due.push(message);
            if (nextMs !== null) later(nextMs);
          }
        }
        for (const message of due) {
          if (has.has(message.id) || isOld(message)) continue;
          if (sends && (await this.#send(files, receiver, message, config, run))) {
            cursor.delivered[receiver.id] = [...(cursor.delivered[receiver.id] ?? []), message.id];
            files.write(runId, cursor);
          } else left++;
        }
        const retryAtMs = this.#retryAtMs.get(receiver.id);
        if (left > 0 && retryAtMs !== undefined) later(retryAtMs);
      }),
    );
    if (!said.hasEnded || left > 0) return left;
    if (!sends) return 1;
    // The configuration may have changed just now, and its receivers get the run when a person trusts them.
    if (hasUntrustedReceivers(config) && said.others.some(({ message }) => !isOld(message))) return 0;
    files.forget(runId);
    return 0;
  }

  async #send(
    files: OutboxFiles,
    receiver: KnownReceiver,
    message: Message,
    config: LoadedConfig,
    run: SentRun,
  ): Promise<boolean> {
    if ((this.#retryAtMs.get(receiver.id) ?? 0) > Date.now()) return false;
    let error: string | null = null;
    try {
      const { env } = this.#options;
      if (receiver.telemetry === undefined) await sendTo(receiver, message, { root: config.root, env });
      else await sendSpans(receiver.telemetry, run, env);
    } catch (thrown) {
      error = errorMessage(thrown);
    }
    this.#note(files, receiver, error);
    this.#options.onDelivery?.({ run_id: run.runId, type: message.type, receiver: receiver.target, error });
    return error === null;
  }

  #note(files: OutboxFiles, { id }: KnownReceiver, error: string | null): void {
    const states = files.receivers();
    if (error === null) {
      this.#retryAtMs.delete(id);
      if (states[id] === undefined) return;
      delete states[id];
    } else {
      const failed = (states[id]?.failed ?? 0) + 1;
      const pauseMs = PAUSES_MS[Math.min(failed, PAUSES_MS.length) - 1]!;
      this.#retryAtMs.set(id, Date.now() + pauseMs);
      states[id] = { failed, error, at: new Date().toISOString() };
    }
    files.writeReceivers(states);
  }

  /** Waits until a time, until the outbox is woken, or until the signal aborts. */
  #wait(files: OutboxFiles | undefined, untilMs: number): Promise<void> {
    const { signal } = this.#options;
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        watch.close();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, Math.max(0, untilMs - Date.now()));
      const watch = new FolderWatch((path) => {
        if (path.endsWith('/wake')) done();
      });
      signal.addEventListener('abort', done, { once: true });
      if (files === undefined) return;
      watch.set([files.folder]);
      // It may have been asked during the round.
      if (files.isAskedToRetry) done();
    });
  }
}
