import type { RunRecord } from '../../../protocol/run-record.ts';
import type { ReadEvent } from '../../ports/run-store.ts';
import { readChildQuestion, taskActionId } from '../../run/answers/open-questions.ts';
import { endedRecord, followToEnd } from '../../run/follow-to-end.ts';
import type { RunSummary } from '../../run/run-summary.ts';
import { summaryOf } from '../../run/summarise-run.ts';
import { eventsOfTypes } from '../../store-files/marked-lines.ts';
import { type Engine, emit } from './engine.ts';

/** Child events that the workflow always records. */
const TYPES = new Set([
  'action_required',
  'action_answered',
  'task_action_required',
  'error',
  'runner_error',
  'runner_state',
]);
const TYPES_AND_PROGRESS = new Set([...TYPES, 'progress']);
/** At most one progress event per child and second, so that the workflow's log stays small and readable. */
const PROGRESS_EVERY_MS = 1000;

/** What following a child needs from a workflow's engine or from a pipe. */
export type Follower = Pick<Engine, 'services' | 'writer' | 'history' | 'decisions'>;

export interface FollowedChild {
  record: RunRecord;
  summary: RunSummary;
}

/**
 * Follows a child run to its end, whichever process supervises it, and records its progress in the workflow's log.
 * Events that an earlier attempt recorded are not recorded again.
 */
export async function followChild(
  engine: Follower,
  taskId: string,
  childRunId: string,
  { isWorkflow, recorded }: { isWorkflow: boolean; recorded: Promise<void> | undefined },
): Promise<FollowedChild> {
  const { store, workspaces } = engine.services;
  const teller = new ChildTeller(engine, taskId, childRunId, isWorkflow);
  try {
    for await (const lines of followToEnd(store, childRunId, { since: 0, recorded, recoversIn: workspaces }))
      await teller.take(Buffer.from(lines.buffer, lines.byteOffset, lines.length));
  } finally {
    teller.end();
  }
  const record = await endedRecord(engine.services, childRunId, recorded);
  return { record, summary: await summaryOf(engine.services, childRunId, record) };
}

class ChildTeller {
  readonly #engine: Follower;
  readonly #taskId: string;
  readonly #childRunId: string;
  readonly #isWorkflow: boolean;
  /** The child's events up to this `seq` are already in the log. */
  readonly #recordedSeq: number;
  /** The child's open questions, by their id in the workflow. */
  readonly #open = new Map<string, ReadEvent>();
  /** Whether the child waits for an answer. A question with a prepared answer does not make it wait. */
  #isWaiting = false;
  #progressAtMs = Number.NEGATIVE_INFINITY;

  constructor(engine: Follower, taskId: string, childRunId: string, isWorkflow: boolean) {
    this.#engine = engine;
    this.#taskId = taskId;
    this.#childRunId = childRunId;
    this.#isWorkflow = isWorkflow;
    this.#recordedSeq = engine.history.of(taskId).recordedSeq;
  }

  async take(lines: Buffer): Promise<void> {
    for (const event of this.#recordedEvents(lines)) await this.#reportOf(event);
  }

  /** Withdraws the child's questions: the child no longer waits for answers. */
  end(): void {
    for (const actionId of this.#open.keys()) this.#engine.decisions.withdraw(actionId);
  }

  #recordedEvents(lines: Buffer): ReadEvent[] {
    const isProgressDue = performance.now() - this.#progressAtMs >= PROGRESS_EVERY_MS;
    const events = [...eventsOfTypes(lines, isProgressDue ? TYPES_AND_PROGRESS : TYPES)];
    const newest = events.findLastIndex(({ type }) => type === 'progress');
    return events.filter(({ type }, at) => type !== 'progress' || at === newest);
  }

  async #reportOf(event: ReadEvent): Promise<void> {
    switch (event.type) {
      case 'progress':
        this.#progressAtMs = performance.now();
        await this.#wrap('task_progress', event);
        break;
      case 'error':
      case 'runner_error':
        await this.#wrap('task_error', event);
        break;
      case 'action_required':
        await this.#asked(event);
        break;
      case 'task_action_required':
        // Only the tool itself knows the tasks that it reports.
        if (this.#isWorkflow) await this.#asked(event);
        break;
      case 'action_answered':
        await this.#answered(event);
        break;
      case 'runner_state':
        if (event.to === 'waiting_ai') this.#wait();
        else this.#goOn();
        break;
      default:
    }
  }

  async #asked(event: ReadEvent): Promise<void> {
    this.#engine.decisions.noteAsked(event);
    await this.#wrap('task_action_required', event);
    const child = readChildQuestion({
      task_id: this.#taskId,
      child_run_id: this.#childRunId,
      child_event: event,
    });
    if (child === undefined) return;
    const question = { ...child.asked, action_id: child.actionId };
    this.#open.set(child.actionId, question);
    if (this.#isWaiting) this.#engine.decisions.follow(question);
  }

  /** The child's attempt has ended, so it no longer waits; its next attempt asks again. */
  #goOn(): void {
    this.#isWaiting = false;
    for (const [actionId, { blocking }] of this.#open) {
      if (blocking !== true) continue;
      this.#open.delete(actionId);
      this.#engine.decisions.withdraw(actionId);
    }
  }

  #wait(): void {
    this.#isWaiting = true;
    for (const question of this.#open.values()) this.#engine.decisions.follow(question);
  }

  async #answered(event: ReadEvent): Promise<void> {
    const actionId = taskActionId(this.#taskId, String(event.action_id));
    if (!this.#open.delete(actionId)) return;
    const { action, answer, by, source, reason } = event;
    if (Number(event.seq) > this.#recordedSeq) {
      const answered = {
        action_id: actionId,
        action,
        answer,
        by,
        source,
        ...(reason !== undefined && { reason }),
      };
      await emit(this.#engine, { type: 'action_answered', ...answered, child_run_id: this.#childRunId });
    }
    this.#engine.decisions.withdraw(actionId);
  }

  async #wrap(type: string, event: ReadEvent): Promise<void> {
    if (Number(event.seq) <= this.#recordedSeq) return;
    const about = { task_id: this.#taskId, child_run_id: this.#childRunId };
    await emit(this.#engine, { type, ...about, child_event: event });
  }
}
