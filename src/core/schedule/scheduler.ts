import { isFinal } from '../../protocol/run.ts';
import { errorMessage } from '../../util/error-code.ts';
import { tryFileLock } from '../../util/file-lock.ts';
import { FolderWatch } from '../../util/folder-watch.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { RunStore } from '../ports/run-store.ts';
import { readRun } from '../run/read-run.ts';
import { dueTimes } from './due-times.ts';
import type { Firing, Schedule } from './schedule.ts';
import { ScheduleFiles } from './schedule-files.ts';
import { type WatchedState, watchedState } from './watched-state.ts';

/** So soon after a change of files a watch looks at them: an editor writes a file in several steps. */
const SETTLE_MS = 300;
/** Changes that follow each other in less time are one look. */
const PAUSE_MS = 100;
/** At most so long between two looks: clocks are set, machines sleep, and some file systems report no changes. */
const LOOK_MS = 30_000;
/** How soon to look again while another process runs the schedules, which may end without a word. */
const LOCKED_MS = 2_000;
/** A watch whose runs change what it watches would never end. */
const MAX_SELF_TRIGGERED = 10;
const KEPT_FIRINGS = 20;

/** The parts of a project that the scheduler needs. */
export interface ScheduledProject {
  config: Pick<LoadedConfig, 'root'>;
  store: RunStore;
  workspaces: { root: string };
}

export interface SchedulerOptions {
  /** Opens the project as it is now. */
  open: () => Promise<ScheduledProject>;
  /** Starts the run of a schedule, or finds the run that has the key. Returns its id, or throws why there is none. */
  start: (schedule: Schedule, key: string) => Promise<string>;
  /** What a schedule did, and the problems of the scheduler itself. */
  onFiring?: (schedule: Schedule, firing: Firing) => void;
  onProblem?: (error: unknown) => void;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
}

/** A run to start now. */
interface Wanted {
  at: string;
  /** What is handled when it has been started. */
  settles: string;
  isSelfTriggered: boolean;
}

/**
 * Starts the runs of a project's schedules. One process of a project does it at a time. A run is noted before it is started, and started under
 * the key that was noted: a process that dies in between leaves either the note, from which the next process starts the run, or the run, which
 * the key finds.
 */
export class Scheduler {
  readonly #options: SchedulerOptions;
  /** Set by a change of the schedules, of the runs or of watched files. */
  #wake: () => void = () => {};
  #hasChanged = false;
  /** For the schedules and the ledger; the watched files have their own, because their changes are waited out. */
  readonly #ownFiles = new FolderWatch((path) => {
    if (/\.jsonl?$/.test(path)) this.#notify();
  });
  readonly #watched = new FolderWatch(() => {
    this.#files.clear();
    this.#notify();
  });
  /** What each watch saw at the last look, until a watched folder changes. */
  readonly #files = new Map<string, WatchedState>();
  /** The watches whose files have changed during their run. */
  readonly #changedDuringRun = new Set<string>();
  /** The state in which each watch found its files changed: it waits until it is the same at the next look. */
  readonly #lastDigests = new Map<string, string>();

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** Starts runs until the signal aborts. */
  async forever(): Promise<void> {
    const { signal, env, onProblem } = this.#options;
    signal.addEventListener('abort', () => this.#notify(), { once: true });
    let release: (() => void) | undefined;
    try {
      while (!signal.aborted) {
        this.#hasChanged = false;
        let nextMs = Date.now() + LOOK_MS;
        try {
          const project = await this.#options.open();
          const files = new ScheduleFiles(project.config.root, env);
          files.prepare();
          release ??= tryFileLock(files.lock);
          const schedules = files.list();
          // The end of a run may let the next one begin.
          this.#ownFiles.set(
            schedules.length === 0 ? [files.folder] : [files.folder, project.workspaces.root],
          );
          if (release === undefined) nextMs = Date.now() + LOCKED_MS;
          else nextMs = Math.min(nextMs, await this.#look(files, project, schedules));
        } catch (error) {
          // A project or a disk with a problem is tried again.
          onProblem?.(error);
        }
        await this.#wait(nextMs);
        // Not every file system reports changes.
        if (!this.#hasChanged) this.#files.clear();
      }
    } finally {
      this.#ownFiles.close();
      this.#watched.close();
      release?.();
    }
  }

  /** Handles every schedule once. Returns when to look again. */
  async #look(
    files: ScheduleFiles,
    { store }: ScheduledProject,
    schedules: readonly Schedule[],
  ): Promise<number> {
    let nextMs = Number.POSITIVE_INFINITY;
    const folders = new Set<string>();
    for (const schedule of schedules) {
      if (this.#options.signal.aborted) break;
      if (schedule.paused !== null) continue;
      try {
        const next = await this.#handle(files, store, schedule, folders);
        nextMs = Math.min(nextMs, next ?? nextMs);
      } catch (error) {
        // A watch that names too many folders, for example. It is tried again at the next look.
        this.#options.onProblem?.(error);
      }
    }
    // A folder that is watched from now on may have changed since it was read.
    if (!this.#watched.set(folders).hasNew) return nextMs;
    this.#files.clear();
    return Date.now();
  }

  async #handle(
    files: ScheduleFiles,
    store: RunStore,
    schedule: Schedule,
    folders: Set<string>,
  ): Promise<number | undefined> {
    if (schedule.pending !== null) await this.#start(files, schedule.name);
    const now = files.find(schedule.name);
    if (now === undefined || now.paused !== null) return undefined;
    return now.trigger.kind === 'cron'
      ? this.#handleTimes(files, store, now)
      : this.#handleFiles(files, store, now, folders);
  }

  async #handleTimes(
    files: ScheduleFiles,
    store: RunStore,
    { name, trigger, settled, history }: Schedule,
  ): Promise<number | undefined> {
    if (trigger.kind !== 'cron') return undefined;
    const { due, missed, settledMs, nextMs } = dueTimes(trigger, name, Date.parse(settled), Date.now());
    if (settledMs === undefined) return nextMs;
    if (missed > 0) {
      const at = new Date(due[0] === undefined ? settledMs : due[0] - 1).toISOString();
      const why = `${missed === 1 ? 'a time was' : `${missed} times were`} missed: no server ran`;
      await this.#settle(files, name, at, { at, outcome: 'skipped', run_id: null, why });
    }
    let live = await liveRunOf(store, history);
    for (const ms of due) {
      const at = new Date(ms).toISOString();
      // With `all` each missed time gets its run, one after the other.
      if (live !== undefined && trigger.missed === 'all') return undefined;
      if (live !== undefined) {
        const why = `run ${live} of this schedule had not ended`;
        await this.#settle(files, name, at, { at, outcome: 'skipped', run_id: null, why });
        continue;
      }
      const wanted = { at, settles: at, isSelfTriggered: false };
      if (!(await this.#note(files, name, wanted))) return undefined;
      live = await this.#start(files, name);
    }
    await this.#settle(files, name, new Date(settledMs).toISOString());
    return nextMs;
  }

  async #handleFiles(
    files: ScheduleFiles,
    store: RunStore,
    { name, root, trigger, settled, history }: Schedule,
    folders: Set<string>,
  ): Promise<number | undefined> {
    if (trigger.kind !== 'watch') return undefined;
    const state = this.#files.get(name) ?? (await watchedState(root, trigger.on));
    this.#files.set(name, state);
    const { digest, folders: own } = state;
    for (const folder of own) folders.add(folder);
    if (digest === settled) return undefined;
    // The end of the run wakes the scheduler.
    if ((await liveRunOf(store, history)) !== undefined) {
      this.#changedDuringRun.add(name);
      return undefined;
    }
    // Wait until the files no longer change.
    if (this.#lastDigests.get(name) !== digest) {
      this.#lastDigests.set(name, digest);
      this.#files.delete(name);
      return Date.now() + SETTLE_MS;
    }
    const isSelfTriggered = this.#changedDuringRun.delete(name);
    const wanted = { at: new Date().toISOString(), settles: digest, isSelfTriggered };
    if (await this.#note(files, name, wanted)) await this.#start(files, name);
    return undefined;
  }

  /** Notes that a run is to be started. Returns false when the schedule was removed or paused meanwhile, or is paused now. */
  async #note(
    files: ScheduleFiles,
    name: string,
    { at, settles, isSelfTriggered }: Wanted,
  ): Promise<boolean> {
    const noted = await files.change(name, (now) => {
      if (now.paused !== null) return undefined;
      const selfTriggered = isSelfTriggered ? now.self_triggered + 1 : 0;
      if (selfTriggered > MAX_SELF_TRIGGERED) {
        const why = `${MAX_SELF_TRIGGERED} runs in a row changed what it watches, or the files changed during each of them`;
        return { ...now, paused: { at, why }, settled: settles, self_triggered: 0 };
      }
      const count = now.count + 1;
      const key = `schedule:${name}:${now.trigger.kind === 'cron' ? at : `${now.created_at}:${count}`}`;
      return { ...now, count, self_triggered: selfTriggered, pending: { at, key, settles } };
    });
    return noted?.pending != null;
  }

  /** Starts the run that is noted. Returns its id, or undefined when there is none. */
  async #start(files: ScheduleFiles, name: string): Promise<string | undefined> {
    const schedule = files.find(name);
    if (schedule?.pending == null) return undefined;
    const { at, key, settles } = schedule.pending;
    const firing: Firing = { at, outcome: 'started', run_id: null, why: null };
    try {
      firing.run_id = await this.#options.start(schedule, key);
    } catch (error) {
      Object.assign(firing, { outcome: 'failed', why: errorMessage(error) });
    }
    await this.#settle(files, name, settles, firing);
    this.#options.onFiring?.(schedule, firing);
    return firing.run_id ?? undefined;
  }

  async #settle(files: ScheduleFiles, name: string, settled: string, firing?: Firing): Promise<void> {
    await files.change(name, (now) => {
      if (firing === undefined && now.settled === settled) return undefined;
      const history = firing === undefined ? now.history : [firing, ...now.history].slice(0, KEPT_FIRINGS);
      return { ...now, settled, pending: null, history };
    });
  }

  #notify(): void {
    this.#hasChanged = true;
    this.#wake();
  }

  #wait(untilMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#wake = () => {};
        resolve();
      };
      let timer = setTimeout(done, Math.max(0, Math.min(untilMs - Date.now(), LOOK_MS)));
      this.#wake = () => {
        this.#wake = () => {};
        clearTimeout(timer);
        timer = setTimeout(done, PAUSE_MS);
      };
      if (this.#hasChanged) this.#wake();
    });
  }
}

/** The last run of a schedule, when it has not ended. */
async function liveRunOf(store: RunStore, history: readonly Firing[]): Promise<string | undefined> {
  const runId = history.find((each) => each.run_id !== null)?.run_id;
  if (runId == null) return undefined;
  const record = await readRun(store, runId).catch(() => undefined);
  return record === undefined || record.lost === true || isFinal(record.state) ? undefined : runId;
}
