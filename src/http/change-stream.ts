import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AcorApp, Principal } from '../operations/acor-app.ts';
import { watchProjectRuns } from '../operations/project/project-stamp.ts';
import { type RunChanges, runChanges } from '../operations/run/run-changes.ts';

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

/**
 * What changes in the runs of the project, for any number of readers, as server-sent events. The id of a message is a cursor into the
 * store: a reader that comes back, also to a server that was restarted, gets what has changed since, each run once. A reader that is slow keeps
 * its cursor, and gets the state of then.
 */
export class ChangeStream {
  readonly #appFor: (principal: Principal) => AcorApp;
  readonly #readers = new Set<Reader>();
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #isStale = false;
  #lookTookMs = 0;

  constructor(appFor: (principal: Principal) => AcorApp) {
    this.#appFor = appFor;
  }

  /** Watches the runs of the project from now on. */
  async watch(principal: Principal): Promise<void> {
    const wake = () => this.#wake();
    await watchProjectRuns(this.#appFor(principal), wake, wake);
    setInterval(() => {
      for (const { res } of this.#readers) res.write(':\n\n');
    }, KEEP_ALIVE_MS).unref();
  }

  /** Adds a reader that has seen everything before `cursor`; without one, what changes from now on. Throws E_USAGE for an invalid cursor. */
  async add(res: ServerResponse, principal: Principal, cursor: string | undefined): Promise<void> {
    const changes = await runChanges(this.#appFor(principal), cursor);
    res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    const reader = { res, principal, cursor: changes.cursor };
    res.on('close', () => this.#readers.delete(reader)).on('drain', () => this.#wake());
    if (res.destroyed) return;
    this.#readers.add(reader);
    // The first message has the cursor of the reader, also when nothing has changed.
    res.write(messageOf(changes));
    // For what has changed since the look.
    this.#wake();
  }

  #wake(): void {
    this.#isStale = true;
    if (this.#isLooking || this.#timer !== undefined || this.#readers.size === 0) return;
    this.#timer = setTimeout(
      () => void this.#look(),
      Math.max(INTERVAL_MS, this.#lookTookMs * (SHARE_OF_TIME - 1)),
    );
  }

  /** Readers of one principal with the same cursor share a look. */
  async #look(): Promise<void> {
    this.#timer = undefined;
    this.#isLooking = true;
    this.#isStale = false;
    const begun = performance.now();
    const ready = [...this.#readers].filter(({ res }) => !res.writableNeedDrain);
    const sameLook = ({ principal: { kind, name }, cursor }: Reader) => `${kind} ${name} ${cursor}`;
    for (const readers of Map.groupBy(ready, sameLook).values()) {
      const [{ principal, cursor }] = readers as [Reader, ...Reader[]];
      // A project that is invalid for a moment is looked at again after its next change.
      const changes = await runChanges(this.#appFor(principal), cursor).catch(() => undefined);
      if (changes === undefined || isEmpty(changes)) continue;
      // The same bytes for all: a text would be encoded for each.
      const message = Buffer.from(messageOf(changes));
      for (const [at, reader] of readers.entries()) {
        if (at % READERS_A_TURN === READERS_A_TURN - 1) await nextTurn();
        reader.cursor = changes.cursor;
        reader.res.write(message);
      }
    }
    this.#lookTookMs = performance.now() - begun;
    this.#isLooking = false;
    if (this.#isStale) this.#wake();
  }
}

function isEmpty({ runs, removed, isReset }: RunChanges): boolean {
  return runs.length === 0 && removed.length === 0 && !isReset;
}

function messageOf({ runs, removed, isReset, cursor }: RunChanges): string {
  const data = JSON.stringify(isReset ? {} : { runs, removed });
  return `event: ${isReset ? 'reset' : 'runs'}\nid: ${cursor}\ndata: ${data}\n\n`;
}
