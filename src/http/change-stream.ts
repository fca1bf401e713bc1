import type { ServerResponse } from 'node:http';
import type { AcorApp, Principal } from '../operations/acor-app.ts';
import { isRefusal } from '../operations/caller-refusals.ts';
import { watchProjectRuns } from '../operations/project/project-stamp.ts';
import type { ProjectHost } from '../operations/project-host.ts';
import { authorizeChanges, type RunChanges, RunsNow } from '../operations/run/run-changes.ts';
import type { AcorError } from '../protocol/acor-error.ts';
import { nextTurn } from '../util/pause.ts';
import { failureMessage } from './reply.ts';

/** Changes that follow each other in less time are sent together. */
const INTERVAL_MS = 200;
const KEEP_ALIVE_MS = 15_000;
/** Sending takes at most one part in so many of the time, so that a thousand readers leave the server free for requests. */
const SHARE_OF_TIME = 5;
/** After so many readers other requests get their turn. */
const READERS_A_TURN = 50;

interface Reader {
  res: ServerResponse;
  principal: Principal;
  cursor: string;
}

/** Who waits for the next look at the runs. */
interface Waiter {
  resolve: (now: RunsNow) => void;
  reject: (error: unknown) => void;
}

/**
 * What changes in the runs of the project, for any number of readers, as server-sent events. The id of a message is a cursor into the
 * store: a reader that comes back, also to a server that was restarted, gets what has changed since, each run once. A reader that is slow keeps
 * its cursor, and gets the state of then. All readers share one look at the runs, whenever they came.
 */
export class ChangeStream {
  readonly #host: ProjectHost;
  readonly #owner: Principal;
  readonly #readers = new Set<Reader>();
  #waiters: Waiter[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  /** Something may have changed since the last look. */
  #isStale = true;
  #nextLookAtMs = 0;

  /** The server looks at the runs for its owner, and checks for each reader whether that one may read them. */
  constructor(host: ProjectHost, owner: Principal) {
    this.#host = host;
    this.#owner = owner;
  }

  #appFor(principal: Principal): AcorApp {
    return this.#host.openFor(principal).app;
  }

  /** Watches the runs of the project from now on. */
  async watch(): Promise<void> {
    const wake = () => {
      this.#isStale = true;
      this.#schedule();
    };
    await watchProjectRuns(this.#appFor(this.#owner), wake, wake);
    setInterval(() => {
      for (const { res } of this.#readers) res.write(':\n\n');
    }, KEEP_ALIVE_MS).unref();
  }

  /** Adds a reader that has seen everything before `cursor`; without one, what changes from now on. Throws E_USAGE for an invalid cursor. */
  async add(res: ServerResponse, principal: Principal, cursor: string | undefined): Promise<void> {
    await authorizeChanges(this.#appFor(principal));
    const changes = await (await this.#nextLook()).since(cursor);
    res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    const reader = { res, principal, cursor: changes.cursor };
    res.on('close', () => this.#readers.delete(reader)).on('drain', () => this.#schedule());
    if (res.destroyed) return;
    this.#readers.add(reader);
    // The first message has the cursor of the reader, also when nothing has changed.
    res.write(messageOf(changes));
    // For what has changed since the look.
    this.#schedule();
  }

  #nextLook(): Promise<RunsNow> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isLooking || this.#timer !== undefined) return;
    if (this.#waiters.length === 0 && this.#readers.size === 0) return;
    this.#timer = setTimeout(() => void this.#look(), Math.max(0, this.#nextLookAtMs - performance.now()));
  }

  async #look(): Promise<void> {
    this.#timer = undefined;
    this.#isLooking = true;
    this.#isStale = false;
    const waiters = this.#waiters;
    this.#waiters = [];
    const begun = performance.now();
    try {
      const { store } = await this.#appFor(this.#owner).project();
      const now = await RunsNow.take(store);
      for (const { resolve } of waiters) resolve(now);
      await this.#send(now);
    } catch (error) {
      // A project that is invalid for a moment is looked at again after its next change.
      for (const { reject } of waiters) reject(error);
    }
    const ended = performance.now();
    this.#nextLookAtMs = ended + Math.max(INTERVAL_MS, (ended - begun) * (SHARE_OF_TIME - 1));
    this.#isLooking = false;
    if (this.#isStale || this.#waiters.length > 0) this.#schedule();
  }

  /** Ends the stream of a reader that may read no more. */
  #end(reader: Reader, error: AcorError): void {
    this.#readers.delete(reader);
    reader.res.end(failureMessage(this.#host, error));
  }

  /** Brings all readers that take more to the present state. Those of one principal with the same cursor get the same message. */
  async #send(now: RunsNow): Promise<void> {
    const behind = [...this.#readers].filter(
      ({ res, cursor }) => cursor !== now.cursor && !res.writableNeedDrain,
    );
    const sameMessage = ({ principal: { kind, name }, cursor }: Reader) => `${kind} ${name} ${cursor}`;
    for (const readers of Map.groupBy(behind, sameMessage).values()) {
      const [{ principal, cursor }] = readers as [Reader, ...Reader[]];
      const problem = await authorizeChanges(this.#appFor(principal)).catch((error: unknown) => ({ error }));
      if (isRefusal(problem?.error)) for (const reader of readers) this.#end(reader, problem.error);
      if (problem !== undefined) continue;
      const changes = await now.since(cursor);
      // The same bytes for all: a text would be encoded for each.
      const message = isEmpty(changes) ? undefined : Buffer.from(messageOf(changes));
      for (const [at, reader] of readers.entries()) {
        if (at % READERS_A_TURN === READERS_A_TURN - 1) await nextTurn();
        reader.cursor = changes.cursor;
        if (message !== undefined) reader.res.write(message);
      }
    }
  }
}

function isEmpty({ runs, removed, isReset }: RunChanges): boolean {
  return runs.length === 0 && removed.length === 0 && !isReset;
}

function messageOf({ runs, removed, isReset, cursor }: RunChanges): string {
  const data = JSON.stringify(isReset ? {} : { runs, removed });
  return `event: ${isReset ? 'reset' : 'runs'}\nid: ${cursor}\ndata: ${data}\n\n`;
}
