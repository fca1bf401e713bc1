import { existsSync, type FSWatcher, readdirSync, readFileSync, rmSync, watch } from 'node:fs';
import { basename, join } from 'node:path';
import { ANSWER_PREFIX, type PostedAnswer, readPostedAnswer } from './answer-inbox.ts';
import { writeCancelFile } from './cancel-request.ts';
import type { RunLayout } from './layout.ts';

const POLL_MS = 250;

/** What others may ask of a run's supervisor by dropping files into `control/`. */
export interface ControlHandlers {
  /** The run is to end; the file holds the reason (contract §3). Told once. */
  onCancel(reason: string): void;
  /** Without any more grace. Told once. */
  onForceCancel(): void;
  onAnswer(posted: PostedAnswer): void;
}

/** Looks after a run's control folder, for as long as it is supervised. */
export class ControlFolder {
  readonly #layout: RunLayout;
  readonly #handlers: ControlHandlers;
  readonly #timer: NodeJS.Timeout;
  #watcher: FSWatcher | undefined;
  #cancelled = false;
  #hurried = false;
  /** Names of answers that were read: on a disk that became read-only they stay. */
  readonly #taken = new Set<string>();

  constructor(layout: RunLayout, handlers: ControlHandlers) {
    this.#layout = layout;
    this.#handlers = handlers;
    try {
      this.#watcher = watch(layout.control, (_event, name) => {
        if (name === null || this.#isRequest(name)) this.#look();
      });
    } catch {
      // Without a watch the timer alone finds what is dropped.
    }
    this.#timer = setInterval(() => this.#look(), POLL_MS);
    this.#look();
  }

  /** Tells the tool by the cancel file that it is to end. */
  reportTool(reason: string): void {
    try {
      writeCancelFile(this.#layout, reason);
    } catch {
      // On a full disk the tool cannot be asked; it is told by the signal that follows.
    }
  }

  /** Takes that word back, so that the next attempt does not find it. */
  takeBack(): void {
    rmSync(this.#layout.cancelFile, { force: true });
  }

  /** Nobody can answer, cancel or follow a run whose folder was removed. */
  #reportThatItIsGone(): void {
    if (this.#cancelled) return;
    this.#cancelled = this.#hurried = true;
    this.#handlers.onCancel('the folder of the run was removed');
    this.#handlers.onForceCancel();
  }

  close(): void {
    this.#watcher?.close();
    clearInterval(this.#timer);
  }

  /** The streams of the tool and files of the supervisor itself lie here as well; they change often, and ask for nothing. */
  #isRequest(name: string): boolean {
    const { cancelRequest, forceCancelFile } = this.#layout;
    return [cancelRequest, forceCancelFile].some((path) => basename(path) === name) || isAnswer(name);
  }

  #look(): void {
    if (!existsSync(this.#layout.dir)) {
      this.#reportThatItIsGone();
      return;
    }
    if (!this.#cancelled) {
      const reason = readReason(this.#layout.cancelRequest);
      if (reason !== undefined) {
        this.#cancelled = true;
        this.#handlers.onCancel(reason);
      }
    }
    if (!this.#hurried && existsSync(this.#layout.forceCancelFile)) {
      this.#hurried = true;
      this.#handlers.onForceCancel();
    }
    for (const name of answersIn(this.#layout.control)) {
      if (this.#taken.has(name)) continue;
      this.#taken.add(name);
      const posted = readPostedAnswer(join(this.#layout.control, name));
      if (posted !== undefined) this.#handlers.onAnswer(posted);
    }
  }
}

function readReason(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || 'cancelled';
  } catch {
    return undefined;
  }
}

function isAnswer(name: string): boolean {
  return name.startsWith(ANSWER_PREFIX) && name.endsWith('.json');
}

function answersIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter(isAnswer).sort();
  } catch {
    return [];
  }
}
