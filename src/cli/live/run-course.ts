type Event = Readonly<Record<string, unknown>>;

/** How a step ended. */
export type StepEnd = 'done' | 'failed' | 'stopped';

/** A step that has ended. */
export interface EndedStep {
  name: string;
  end: StepEnd;
  durationMs: number;
}

/** The current work: a step of the tool, or a task of an orchestrator. */
export interface RunExecutor {
  name: string;
  sinceMs: number;
  pct: number | undefined;
  msg: string;
}

/** A tool may name any number of tasks; beyond this number they are not distinguished. */
const MAX_TASKS = 100;

/**
 * The state of a run, derived from its events. Times use the reader's clock: a tool's own time is only trusted between
 * the previous event and `nowMs`.
 */
export class RunCourse {
  state = 'queued';
  startedMs: number | undefined;
  deadlineMs: number | undefined;
  /** The arrival time of the last event. */
  lastMs = 0;
  /** The question that the run waits for. */
  question = '';
  work: RunExecutor | undefined;
  readonly tasks = new Map<string, RunExecutor>();
  readonly #waitingStopsDeadline: boolean;
  #waitsSinceMs: number | undefined;

  constructor({ waitingStopsDeadline }: { waitingStopsDeadline: boolean }) {
    this.#waitingStopsDeadline = waitingStopsDeadline;
  }

  /** Processes an event, at `nowMs` at the latest; returns the steps that it ends. */
  take(event: Event, nowMs: number, isFresh: boolean): EndedStep[] {
    const eventMs = isFresh ? nowMs : Date.parse(String(event.ts));
    const atMs = Number.isNaN(eventMs) ? this.lastMs : Math.min(nowMs, Math.max(this.lastMs, eventMs));
    this.lastMs = atMs;
    switch (event.type) {
      case 'runner_start':
        this.#start(event, atMs);
        return [];
      case 'runner_state':
        this.#change(event, atMs);
        return [];
      case 'start':
      case 'progress':
        return this.#step(event, atMs);
      case 'action_required':
        if (event.blocking === true) this.question = textOf(event.action);
        return [];
      case 'result':
        return this.#endWork('done', atMs);
      case 'error':
      case 'runner_error':
        return this.#endWork('failed', atMs);
      case 'cancelled':
        return this.#endWork('stopped', atMs);
      case 'runner_end':
        return this.#endWork(endOf(event.state), atMs);
      case 'task_submitted':
      case 'task_started':
      case 'task_progress':
        this.#task(event, atMs);
        return [];
      case 'task_done':
        return this.#endTask(event, atMs);
      default:
        return [];
    }
  }

  #change({ from, to }: Event, atMs: number): void {
    this.state = String(to);
    // A run that is restarted after its end has a new deadline; the attempts before an end share one.
    if (from === 'completed' || from === 'failed' || from === 'cancelled') this.deadlineMs = undefined;
    if (to === 'waiting_ai') this.#waitsSinceMs = atMs;
    else if (this.#waitsSinceMs !== undefined) {
      if (this.#waitingStopsDeadline && this.deadlineMs !== undefined)
        this.deadlineMs += atMs - this.#waitsSinceMs;
      this.#waitsSinceMs = undefined;
    }
  }

  #start(event: Event, atMs: number): void {
    this.work = undefined;
    this.tasks.clear();
    if (this.deadlineMs !== undefined) return;
    this.startedMs = atMs;
    this.deadlineMs = atMs + Number(event.timeout_s) * 1000;
  }

  #step(event: Event, atMs: number): EndedStep[] {
    const name = typeof event.step === 'string' ? event.step : (this.work?.name ?? '');
    const isNew = this.work === undefined || this.work.name !== name;
    const ended = isNew ? this.#endWork('done', atMs) : [];
    this.work = {
      name,
      sinceMs: isNew ? atMs : this.work!.sinceMs,
      pct: typeof event.pct === 'number' ? event.pct : isNew ? undefined : this.work!.pct,
      msg: textOf(event.msg),
    };
    return ended;
  }

  #endWork(end: StepEnd, atMs: number): EndedStep[] {
    const { work } = this;
    this.work = undefined;
    return work === undefined || work.name === ''
      ? []
      : [{ name: work.name, end, durationMs: atMs - work.sinceMs }];
  }

  #task(event: Event, atMs: number): void {
    const id = textOf(event.task_id);
    const known = this.tasks.get(id);
    if (known === undefined && this.tasks.size >= MAX_TASKS) return;
    const child = (event.child_event ?? {}) as Event;
    this.tasks.set(id, {
      name: id,
      sinceMs: known?.sinceMs ?? atMs,
      pct: typeof child.pct === 'number' ? child.pct : known?.pct,
      msg: textOf(child.msg) || textOf(child.step) || (known?.msg ?? ''),
    });
  }

  #endTask(event: Event, atMs: number): EndedStep[] {
    const id = textOf(event.task_id);
    const sinceMs = this.tasks.get(id)?.sinceMs ?? atMs;
    this.tasks.delete(id);
    return [{ name: id, end: endOf(event.status), durationMs: atMs - sinceMs }];
  }
}

function endOf(word: unknown): StepEnd {
  if (word === 'cancelled' || word === 'skipped') return 'stopped';
  return word === 'failed' || word === 'error' ? 'failed' : 'done';
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
