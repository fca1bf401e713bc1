import {
  closeSync,
  constants,
  existsSync,
  type FSWatcher,
  mkdirSync,
  readdirSync,
  watch,
  writeSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { ANSWER_SOURCES } from '../../protocol/v1/wire.ts';
import { writeAtomic, writeEvenOnFullDisk } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
import { removeFile, removeIfPossible } from '../../util/files.ts';
import { parseObject } from '../../util/parse-object.ts';
import { NOT_REGULAR, openOwn, readOwn, refuseLinks } from '../../util/regular-file.ts';
import type {
  CancelOptions,
  ControlChannel,
  ControlHandlers,
  ControlListener,
  PostedAnswer,
  RecordsReader,
} from '../ports/control-channel.ts';
import type { FileLeases } from './file-leases.ts';
import { CONTROL, layoutOf, type RunLayout } from './layout.ts';
import { storageError } from './storage-error.ts';

const POLL_MS = 250;
/** The watch reports requests at once; what it does not report, such as a removed run, can wait longer. Runs that wait by the hundred must cost nothing. */
const WATCHED_POLL_MS = 1000;
/** Bun may report two quick changes as one, before the second has happened. */
const SECOND_LOOK_MS = 20;
/**
 * A process that has had a watch takes the kernel up to 20 ms to end, because it waits for the readers of its lists (SRCU). So a run is
 * watched only when it is this old. Until then its requests are looked for at shorter intervals.
 */
const YOUNG_MS = 250;
const YOUNG_POLL_MS = 25;
const ANSWER_PREFIX = 'answer-';

/** Requests to a live run as files in its folder `control/`. */
export class FileControlChannel implements ControlChannel {
  readonly #root: string;
  readonly #leases: FileLeases;

  constructor(root: string, leases: FileLeases) {
    this.#root = root;
    this.#leases = leases;
  }

  async requestCancel(runId: string, reason: string, options: CancelOptions = {}): Promise<void> {
    const { cancelRequest, forceCancelFile } = layoutOf(this.#root, runId);
    try {
      this.#makeFolder(runId);
      if (!existsSync(cancelRequest))
        writeEvenOnFullDisk(cancelRequest, JSON.stringify({ reason, by: options.by }));
      if (options.force) writeEvenOnFullDisk(forceCancelFile, `${reason}\n`);
    } catch (error) {
      throw storageError(error, 'request the cancel', cancelRequest);
    }
  }

  async postAnswer(runId: string, posted: PostedAnswer): Promise<void> {
    const { control } = layoutOf(this.#root, runId);
    try {
      this.#makeFolder(runId);
      writeAtomic(join(control, `${ANSWER_PREFIX}${posted.answer_id}.json`), JSON.stringify(posted));
    } catch (error) {
      throw storageError(error, 'submit the answer', control);
    }
  }

  readRecords(runId: string): RecordsReader {
    const { consumed } = layoutOf(this.#root, runId);
    try {
      refuseLinks(this.#root, join(runId, CONTROL));
      return new ConsumedBytes(consumed);
    } catch (error) {
      // Without the folder, no supervisor listens. It is removed when the run ends, which may be at any moment. ACOR makes no links there.
      if (errorCode(error) === 'ENOENT' || errorCode(error) === NOT_REGULAR)
        return { acknowledge() {}, close() {} };
      throw error;
    }
  }

  listen(runId: string, epoch: number, handlers: ControlHandlers): ControlListener {
    const isHeld = () => this.#leases.isHeldNow(runId, epoch);
    return new ControlFolder(layoutOf(this.#root, runId), isHeld, handlers);
  }

  async reset(runId: string, epoch: number): Promise<void> {
    const { control, cancelRequest, forceCancelFile, consumed } = layoutOf(this.#root, runId);
    const own = new Set([cancelRequest, forceCancelFile, consumed]);
    for (const name of namesIn(control) ?? []) {
      const path = join(control, name);
      if (!own.has(path) && !isAnswer(name)) continue;
      // Checked before each removal, as the writer checks before each write: the next owner may claim the run in between.
      if (this.#leases.isHeldNow(runId, epoch)) removeFile(path);
    }
  }

  /** Creates the folder of the requests. In a project that was cloned it may be a link, to a folder of the user. */
  #makeFolder(runId: string): void {
    refuseLinks(this.#root, join(runId, CONTROL));
    makeFolder(layoutOf(this.#root, runId).control);
  }
}

/** Watches a run's control folder while the run has a supervisor. */
class ControlFolder implements ControlListener {
  readonly #layout: RunLayout;
  readonly #isHeld: () => boolean;
  readonly #handlers: ControlHandlers;
  #timer: NodeJS.Timeout;
  #watcher: FSWatcher | undefined;
  #again: NodeJS.Timeout | undefined;
  #isCancelled = false;
  #isForced = false;
  /** Names of answer files that were read. On a read-only disk the files cannot be removed. */
  readonly #taken = new Set<string>();

  constructor(layout: RunLayout, isHeld: () => boolean, handlers: ControlHandlers) {
    this.#layout = layout;
    this.#isHeld = isHeld;
    this.#handlers = handlers;
    try {
      makeFolder(layout.control);
    } catch {
      // The first request reports it.
    }
    const youngUntilMs = performance.now() + YOUNG_MS;
    this.#timer = setInterval(() => {
      if (performance.now() >= youngUntilMs) this.#watch();
      this.#look();
    }, YOUNG_POLL_MS);
    this.#look();
  }

  #watch(): void {
    clearInterval(this.#timer);
    try {
      this.#watcher = watch(this.#layout.control, (_event, name) => {
        if (name === null || this.#isRequest(name)) this.#lookTwice();
      });
    } catch {
      // Without inotify, the timer finds requests.
    }
    this.#timer = setInterval(() => this.#look(), this.#watcher === undefined ? POLL_MS : WATCHED_POLL_MS);
  }

  #lookTwice(): void {
    this.#look();
    clearTimeout(this.#again);
    this.#again = setTimeout(() => this.#look(), SECOND_LOOK_MS);
  }

  consumed(): number | undefined {
    return readConsumedBytes(this.#layout.consumed);
  }

  async look(): Promise<void> {
    this.#look();
  }

  close(): void {
    this.#watcher?.close();
    clearInterval(this.#timer);
    clearTimeout(this.#again);
  }

  /** Whether a file is a request. The folder also contains files of the supervisor. */
  #isRequest(name: string): boolean {
    const { cancelRequest, forceCancelFile } = this.#layout;
    return name === basename(cancelRequest) || name === basename(forceCancelFile) || isAnswer(name);
  }

  #look(): void {
    const { dir, control, cancelRequest, forceCancelFile } = this.#layout;
    const names = namesIn(control);
    if (names === undefined && !existsSync(dir)) {
      this.#endRemovedRun();
      return;
    }
    // Without a free descriptor a folder cannot be listed, but a name can be looked for.
    const has = (path: string) => names?.includes(basename(path)) ?? existsSync(path);
    if (!this.#isCancelled && has(cancelRequest)) {
      const request = readCancel(cancelRequest);
      if (request !== undefined) {
        this.#isCancelled = true;
        this.#handlers.onCancel(request.reason, request.by);
      }
    }
    if (!this.#isForced && has(forceCancelFile)) {
      this.#isForced = true;
      this.#handlers.onForceCancel();
    }
    for (const name of (names ?? []).filter(isAnswer).sort()) {
      if (this.#taken.has(name) || !this.#isHeld()) continue;
      const path = join(control, name);
      const text = readIfPossible(path);
      // For instance no free descriptor: the next look tries again, because the sender waits for this answer.
      if (text === undefined) continue;
      this.#taken.add(name);
      removeIfPossible(path);
      const posted = parseAnswer(text);
      if (posted !== undefined) this.#handlers.onAnswer(posted);
    }
  }

  /** Cancels a run whose folder was removed: no command can answer, cancel or follow it. */
  #endRemovedRun(): void {
    if (this.#isCancelled) return;
    this.#isCancelled = this.#isForced = true;
    this.#handlers.onCancel('the folder of the run was removed');
    this.#handlers.onForceCancel();
  }
}

/** Creates a folder below an existing run's folder only: a request must not create the folder of a removed run. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/** Undefined when it is not a valid answer. */
function parseAnswer(text: string): PostedAnswer | undefined {
  try {
    const posted = JSON.parse(text);
    if (typeof posted?.answer_id !== 'string' || typeof posted.action_id !== 'string') return undefined;
    return { ...posted, source: ANSWER_SOURCES.includes(posted.source) ? posted.source : 'command' };
  } catch {
    return undefined;
  }
}

/** Another program may have made the file: whatever it holds, the run is to be cancelled. */
function readCancel(path: string): { reason: string; by: string | undefined } | undefined {
  const text = readIfPossible(path);
  if (text === undefined) return undefined;
  const { reason, by } = parseObject(text) ?? { reason: text.trim() };
  return {
    reason: typeof reason === 'string' && reason !== '' ? reason : 'cancelled',
    by: typeof by === 'string' ? by : undefined,
  };
}

function readIfPossible(path: string): string | undefined {
  try {
    return readOwn(path).toString();
  } catch {
    return undefined;
  }
}

function isAnswer(name: string): boolean {
  return name.startsWith(ANSWER_PREFIX) && name.endsWith('.json');
}

/** Undefined when the folder cannot be listed. */
function namesIn(folder: string): string[] | undefined {
  try {
    return readdirSync(folder);
  } catch {
    return undefined;
  }
}

const DIGITS = 16;

/** Stores in a file how many bytes of a run's log the reader of its records has consumed. */
class ConsumedBytes implements RecordsReader {
  readonly #fd: number;

  constructor(path: string) {
    this.#fd = openOwn(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600);
    this.acknowledge(0);
  }

  acknowledge(consumedBytes: number): void {
    // A fixed length in one write: a concurrent reader always finds a complete number.
    writeSync(this.#fd, String(consumedBytes).padStart(DIGITS, '0'), 0);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** Undefined while no other run reads the records. */
function readConsumedBytes(path: string): number | undefined {
  try {
    const text = readOwn(path).toString();
    return text.length === DIGITS ? Number(text) : undefined;
  } catch {
    return undefined;
  }
}
