import type { RunRecord } from '../../../protocol/run-record.ts';
import { followToEnd } from '../../runner/follow-to-end.ts';
import type { RunSummary } from '../../runner/run-summary.ts';
import { settled } from '../../runner/settle-lost.ts';
import { summaryOf } from '../../runner/summary-of.ts';
import { readChildQuestion, throughTask } from '../../storage/child-question.ts';
import { type Engine, tell } from './engine.ts';

type Event = Readonly<Record<string, unknown>>;

const PROGRESS = Buffer.from('"progress"');
/** Events of a child that its workflow tells of, each of them. A tool may leave spaces, so the word alone is looked for. */
const WORDS = [
  'action_required',
  'action_answered',
  'task_action_required',
  'error',
  'runner_error',
  'runner_state',
].map((word) => Buffer.from(`"${word}"`));
/** Of a child's progress so much is told and no more, so that the log of the workflow stays readable and small. */
const PROGRESS_EVERY_MS = 1000;
const LF = 10;

export interface FollowedChild {
  record: RunRecord;
  summary: RunSummary;
}

/**
 * Follows a child of the workflow to its end, whoever supervises it, and tells of it on the workflow's log. What was told by an earlier
 * attempt is not told again.
 */
export async function followChild(
  engine: Engine,
  taskId: string,
  childRunId: string,
  options: { isWorkflow: boolean },
): Promise<FollowedChild> {
  const { store } = engine.services;
  const teller = new ChildTeller(engine, taskId, childRunId, options.isWorkflow);
  try {
    for await (const lines of followToEnd(store, childRunId, { since: 0 }))
      teller.take(Buffer.from(lines.buffer, lines.byteOffset, lines.length));
  } finally {
    teller.end();
  }
  const record = await settled(store, childRunId);
  return { record, summary: summaryOf(store, childRunId, record) };
}

class ChildTeller {
  readonly #engine: Engine;
  readonly #taskId: string;
  readonly #childRunId: string;
  readonly #isWorkflow: boolean;
  /** What the log has of this child already. */
  readonly #toldSeq: number;
  /** The child's questions that wait for an answer, as the workflow calls them. */
  readonly #open = new Set<string>();
  /** Those that the child has only just put: what was answered beforehand never makes it wait. */
  readonly #put = new Map<string, Event>();
  #isWaiting = false;
  #progressAtMs = Number.NEGATIVE_INFINITY;

  constructor(engine: Engine, taskId: string, childRunId: string, isWorkflow: boolean) {
    this.#engine = engine;
    this.#taskId = taskId;
    this.#childRunId = childRunId;
    this.#isWorkflow = isWorkflow;
    this.#toldSeq = engine.history.of(taskId).toldSeq;
  }

  take(lines: Buffer): void {
    for (const event of this.#eventsWorthTelling(lines)) this.#tellOf(event);
  }

  /** Nobody waits for its answers any more. */
  end(): void {
    for (const actionId of this.#open) this.#engine.decisions.withdraw(actionId);
    this.#open.clear();
    this.#put.clear();
  }

  #eventsWorthTelling(lines: Buffer): Event[] {
    const starts = new Set<number>();
    for (const word of WORDS) {
      for (let at = lines.indexOf(word); at !== -1; at = lines.indexOf(word, at + word.length))
        starts.add(lines.lastIndexOf(LF, at) + 1);
    }
    if (performance.now() - this.#progressAtMs >= PROGRESS_EVERY_MS) {
      const at = lines.lastIndexOf(PROGRESS);
      if (at !== -1) starts.add(lines.lastIndexOf(LF, at) + 1);
    }
    return [...starts]
      .sort((a, b) => a - b)
      .map((start) => JSON.parse(lines.toString('utf8', start, lines.indexOf(LF, start))));
  }

  #tellOf(event: Event): void {
    switch (event.type) {
      case 'progress':
        this.#progressAtMs = performance.now();
        this.#wrap('task_progress', event);
        break;
      case 'error':
      case 'runner_error':
        this.#wrap('task_error', event);
        break;
      case 'action_required':
        this.#asked(event);
        break;
      case 'task_action_required':
        // Of the tasks that a tool tells of, only the tool knows.
        if (this.#isWorkflow) this.#asked(event);
        break;
      case 'action_answered':
        this.#answered(event);
        break;
      case 'runner_state':
        this.#isWaiting = event.to === 'waiting_ai';
        if (this.#isWaiting) this.#askAll();
        // A child that goes on waits for nothing: its attempt is over, and the next one asks anew.
        else this.end();
        break;
      default:
    }
  }

  #asked(event: Event): void {
    this.#wrap('task_action_required', event);
    const child = readChildQuestion({
      task_id: this.#taskId,
      child_run_id: this.#childRunId,
      child_event: event,
    });
    if (child === undefined) return;
    this.#put.set(child.actionId, { ...child.asked, action_id: child.actionId });
    if (this.#isWaiting || child.asked.blocking !== true) this.#askAll();
  }

  /** The workflow asks what the child waits for. */
  #askAll(): void {
    for (const [actionId, question] of this.#put) {
      this.#open.add(actionId);
      this.#engine.decisions.follow(question);
    }
    this.#put.clear();
  }

  #answered(event: Event): void {
    const actionId = throughTask(this.#taskId, String(event.action_id));
    const wasPut = this.#put.delete(actionId);
    if (!this.#open.delete(actionId) && !wasPut) return;
    const { action, answer, by, source, reason } = event;
    if (Number(event.seq) > this.#toldSeq) {
      const told = {
        action_id: actionId,
        action,
        answer,
        by,
        source,
        ...(reason !== undefined && { reason }),
      };
      tell(this.#engine, { type: 'action_answered', ...told, child_run_id: this.#childRunId });
    }
    if (!wasPut) this.#engine.decisions.withdraw(actionId);
  }

  #wrap(type: string, event: Event): void {
    if (Number(event.seq) <= this.#toldSeq) return;
    const about = { task_id: this.#taskId, child_run_id: this.#childRunId };
    tell(this.#engine, { type, ...about, child_event: event });
  }
}
