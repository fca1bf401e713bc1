import { dirname } from 'node:path';
import type { Server } from '@modelcontextprotocol/server';
import {
  foldersToWatch,
  type ProjectStamp,
  projectStamp,
  watchProjectRuns,
} from '../operations/project/project-stamp.ts';
import { FolderWatch } from '../util/folder-watch.ts';
import type { Host } from './host.ts';

/** A save is several changes. */
const SETTLE_MS = 50;
/** A look at the project after a change may take at most about this share of the time. */
const SHARE = 0.2;
/** Where the system cannot watch the folders. */
const POLL_MS = 5000;
/** A client gets the changes of one run at this interval. */
const RUN_INTERVAL_MS = 500;
const NO_CALLER = { name: undefined, traceparent: undefined, tracestate: undefined };

/** Notifies one client, or all that listen in another way. */
export interface Notifier {
  toolsChanged(): void;
  promptsChanged(): void;
  resourceUpdated(uri: string): void;
}

/** Throws when the policy does not let a client read the resource. */
type CheckReader = () => Promise<void>;

/** The addresses that a client before 2026-07-28 has subscribed to; later clients subscribe in the SDK. */
export type Subscriptions = Map<string, CheckReader>;

/** The connected clients, which are notified when the project or a run changes. An idle project costs nothing. */
export class LiveServers {
  readonly #notifiers = new Set<Notifier>();
  readonly #folders = new FolderWatch((path) => this.#onFile(path));
  readonly #changedRuns = new Map<string, NodeJS.Timeout>();
  #stamp: ProjectStamp | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #isStale = false;
  #lookMs = 0;

  /** `others` are the clients of no server here. */
  constructor(others?: Notifier) {
    if (others !== undefined) this.#notifiers.add(others);
  }

  add(server: Server, subscribed: Subscriptions | undefined): Server {
    const notifier = notifierOf(server, subscribed);
    this.#notifiers.add(notifier);
    server.onclose = () => this.#notifiers.delete(notifier);
    return server;
  }

  /** Watches the project. Returns the function that stops it. */
  watch(host: Host): () => void {
    const stop = new AbortController();
    const look = () => this.#look(host, stop.signal);
    this.#wake = () => this.#lookSoon(look, stop.signal);
    void look();
    const runs = watchProjectRuns(host.open(NO_CALLER).app, (run) => this.#onRun(run)).catch(() => undefined);
    return () => {
      stop.abort();
      this.#folders.close();
      clearTimeout(this.#timer);
      for (const timer of this.#changedRuns.values()) clearTimeout(timer);
      void runs.then((stopRuns) => stopRuns?.());
    };
  }

  #wake = () => {};

  #lookSoon(look: () => Promise<void>, signal: AbortSignal): void {
    this.#isStale = true;
    if (this.#isLooking || this.#timer !== undefined || signal.aborted) return;
    this.#timer = setTimeout(() => void look(), Math.max(SETTLE_MS, this.#lookMs / SHARE));
  }

  /** Compares the project with the last look. */
  async #look(host: Host, signal: AbortSignal): Promise<void> {
    const startedAtMs = performance.now();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isLooking = true;
    this.#isStale = false;
    // An invalid project keeps its last state, and is looked at again after the next change.
    const now = await projectStamp(host.open(NO_CALLER).app, this.#stamp).catch(() => undefined);
    this.#isLooking = false;
    this.#lookMs = performance.now() - startedAtMs;
    if (signal.aborted) return;
    if (now !== undefined) this.#compare(now);
    const { hasNew, isComplete } =
      now?.paths === undefined ? NOTHING : this.#folders.set(foldersToWatch(now.paths));
    if (hasNew || this.#isStale || (now !== undefined && now.paths === undefined)) this.#wake();
    else if (!isComplete) this.#timer = setTimeout(() => void this.#look(host, signal), POLL_MS);
  }

  toolsChanged(): void {
    for (const each of this.#notifiers) each.toolsChanged();
  }

  #compare(now: ProjectStamp): void {
    const before = this.#stamp;
    this.#stamp = now;
    if (before === undefined) return;
    if (before.tools !== now.tools) this.toolsChanged();
    if (before.prompts !== now.prompts) for (const each of this.#notifiers) each.promptsChanged();
  }

  #onFile(path: string): void {
    const uri = this.#stamp?.files.get(path);
    if (uri !== undefined) this.#updated(uri);
    const { paths } = this.#stamp ?? {};
    // Other entries of a folder that is watched for one of its entries change nothing.
    if (paths === undefined || paths.has(path) || paths.has(dirname(path))) this.#wake();
  }

  /** The last change of a run is always reported, the others at intervals. */
  #onRun(run: string): void {
    if (this.#changedRuns.has(run)) return;
    const report = () => {
      this.#changedRuns.delete(run);
      this.#updated(`acor://runs/${run}`);
      this.#updated(`acor://runs/${run}/events`);
    };
    this.#changedRuns.set(run, setTimeout(report, RUN_INTERVAL_MS));
  }

  #updated(uri: string): void {
    for (const each of this.#notifiers) each.resourceUpdated(uri);
  }
}

const NOTHING = { hasNew: false, isComplete: true };

/** Notifies a client of everything that it may have missed. */
export function notifyOfAll(server: Server, subscribed: Subscriptions): void {
  const notifier = notifierOf(server, subscribed);
  notifier.toolsChanged();
  notifier.promptsChanged();
  for (const uri of subscribed.keys()) notifier.resourceUpdated(uri);
}

/** A server without a connection needs no notification: its client lists everything again anyway. */
function notifierOf(server: Server, subscribed: Subscriptions | undefined): Notifier {
  const send = (sent: Promise<void>) => void sent.catch(() => {});
  return {
    toolsChanged: () => send(server.sendToolListChanged()),
    promptsChanged: () => send(server.sendPromptListChanged()),
    resourceUpdated: (uri) => {
      const update = () => server.sendResourceUpdated({ uri });
      if (subscribed === undefined) send(update());
      else if (subscribed.has(uri)) send(subscribed.get(uri)!().then(update));
    },
  };
}
