import { isFinal } from '../../src/protocol/run.ts';
import { commandLineOf } from '../../src/util/process-table.ts';
import { processesOf } from '../support/project.ts';
import { watchdogsOf } from '../support/watchdogs.ts';
import { Attempt } from './attempt.ts';
import { type Course, newCourse } from './course.ts';
import { recordLies } from './invariants.ts';
import { judge } from './judge.ts';
import type { Lane } from './lane.ts';
import type { Kill, RoundPlan, Victim } from './round-plan.ts';
import { waitFor } from './wait-for.ts';

/** More starts of one run than this mean that it makes no progress. */
const MAX_STARTS = 12;

/** The outcome of a round. `problems` is empty when every invariant holds. */
export interface RoundResult {
  plan: RoundPlan;
  runId: string | undefined;
  kills: { victim: Victim; phase: string }[];
  /** Kills whose victim did not exist, or no longer. */
  missed: number;
  resumes: number;
  completed: boolean;
  problems: string[];
}

/** Plays one round: starts a run, kills as planned, resumes it until it is completed, and checks the result. */
export async function playRound(lane: Lane, plan: RoundPlan): Promise<RoundResult> {
  const round = new Round(lane, plan);
  try {
    await round.play();
  } catch (error) {
    round.result.problems.push(error instanceof Error ? error.message : String(error));
  }
  for (const pid of lane.processes()) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has already exited.
    }
  }
  return round.result;
}

class Round {
  readonly result: RoundResult;
  readonly #lane: Lane;
  readonly #plan: RoundPlan;
  readonly #course: Course;

  constructor(lane: Lane, plan: RoundPlan) {
    this.#lane = lane;
    this.#plan = plan;
    this.result = {
      plan,
      runId: undefined,
      kills: [],
      missed: 0,
      resumes: 0,
      completed: false,
      problems: [],
    };
    this.#course = newCourse(lane, plan);
  }

  async play(): Promise<void> {
    for (let start = 0; start < MAX_STARTS && !this.result.completed; start++) {
      await this.#start(start, this.#plan.kills[start]);
    }
    if (!this.result.completed) this.#emit([`not completed after ${MAX_STARTS} starts`]);
    await waitFor('the end of the answering commands', isSettled(Promise.all(this.#course.answering)));
    await waitFor(
      'the end of the followers',
      isSettled(Promise.all(this.#course.streams.map(({ running }) => running.finished))),
    );
    await waitFor(
      'the end of the last process',
      () => this.#leftOver().length === 0,
      () =>
        `: ${this.#leftOver()
          .map((pid) => `${pid} ${commandLineOf(pid)}`)
          .join(', ')}`,
    );
    this.#emit(await judge(this.#course));
  }

  async #start(number: number, kill: Kill | undefined): Promise<void> {
    const { runId } = this.#course;
    const detach = this.#plan.detached ? ['--detach'] : [];
    const { tool, args, bystander } = this.#plan;
    const command =
      runId === undefined
        ? ['run', ...detach, tool, '--record', this.#course.recordFolder, ...args]
        : ['resume', ...detach, runId];
    if (runId !== undefined) this.result.resumes++;
    if (runId !== undefined && bystander !== 'none')
      this.#course.bystanders.push(
        this.#lane.start([bystander, ...(bystander === 'runs' ? [] : [runId])]).finished,
      );
    const attempt = new Attempt(this.#course, command, number);
    const phase = await attempt.play(kill);
    if (kill !== undefined && phase === undefined) this.result.missed++;
    if (kill !== undefined && phase !== undefined) this.result.kills.push({ victim: kill.victim, phase });
    await this.#lookAfter(attempt, phase === undefined ? undefined : kill);
  }

  /** What must hold for a run after each start of it has ended. */
  async #lookAfter(attempt: Attempt, kill: Kill | undefined): Promise<void> {
    const { runId } = this.#course;
    if (runId === undefined) return;
    if (this.#lane.recordOf(runId) === undefined) {
      // Killed before it was a run: no caller knows its id, and it must not block another run.
      this.#course.known.add(runId);
      this.#course.runId = undefined;
      return;
    }
    this.result.runId = runId;
    this.#course.seen.push(this.#lane.log(runId));
    const isLoss =
      kill?.victim === 'supervisor' ||
      kill?.victim === 'both' ||
      (kill?.victim === 'caller' && attempt.isSupervisedHere);
    if (isLoss) this.#course.losses.push(attempt.events);
    if (kill?.rush && isLoss) return;
    if (isLoss && kill?.victim !== 'both')
      await waitFor('the death of a tool whose supervisor was killed', () => processesOf(runId).length === 0);
    await this.#lane.envelope(['health', '--fix']);
    const { ok, data } = await this.#lane.envelope(['show', runId]);
    if (!ok) this.#emit(['acor show fails']);
    this.#course.seen.push(this.#lane.log(runId));
    // A follower may have detected the loss earlier, and not have ended yet.
    await waitFor('the end of a run in its record', () => isFinal(this.#lane.recordOf(runId)!.state));
    const left = processesOf(runId);
    if (left.length > 0) this.#emit([`processes left: ${left.join(' ')}`]);
    this.#emit(recordLies(this.#lane.recordOf(runId)!, attempt.events));
    this.result.completed = data?.state === 'completed';
    if (!this.result.completed && attempt.hasBegun && !isLoss && kill?.victim !== 'tool')
      this.#emit([
        `a start in which ${kill?.victim ?? 'no process'} was killed ended as ${data?.state} ${data?.code}`,
      ]);
  }

  #leftOver(): number[] {
    const { runId } = this.#course;
    return [...this.#lane.processes(), ...(runId === undefined ? [] : watchdogsOf(runId))];
  }

  #emit(problems: readonly string[]): void {
    this.result.problems.push(...problems);
  }
}

function isSettled(promise: Promise<unknown>): () => boolean {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  promise.then(settle, settle);
  return () => settled;
}
