import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isFinal } from '../../src/protocol/run.ts';
import { isRunning } from '../../src/util/process-table.ts';
import { type Event, parseLines, type Running } from '../support/project.ts';
import type { Course } from './course.ts';
import { killNow } from './kill-now.ts';
import { phaseOf } from './phase.ts';
import type { Kill } from './round-plan.ts';
import { type Cast, findVictim } from './victims.ts';
import { waitFor } from './wait-for.ts';

/** One start of the run, by `acor run` or `acor resume`, with its follower and the process that answers, up to its end or its kill. */
export class Attempt {
  readonly isSupervisedHere: boolean;
  readonly #course: Course;
  readonly #command: Running;
  readonly #since: number;
  #follower: Running | undefined;
  #isCommandOver = false;

  constructor(course: Course, args: readonly string[], number: number) {
    const { lane, plan, runId } = course;
    this.#course = course;
    this.#since = runId === undefined ? 0 : this.events.length;
    this.isSupervisedHere = !plan.detached && !plan.tool.endsWith('_apart');
    this.#command = lane.start(args);
    this.#command.child.stdin!.end();
    this.#follow(`start ${number}`, null, this.#command);
    void this.#command.finished.then(() => {
      this.#isCommandOver = true;
    });
  }

  /** Whether the start produced an attempt; it may have written only the end of a lost one. */
  get hasBegun(): boolean {
    return this.events.slice(this.#since).some(({ type }) => type === 'runner_start');
  }

  get events(): Event[] {
    const { lane, runId } = this.#course;
    const log = runId === undefined ? '' : lane.log(runId);
    return parseLines(log.slice(0, log.lastIndexOf('\n') + 1));
  }

  /** Watches the attempt to its end; returns the phase in which the victim was killed, undefined when the victim never existed. */
  async play(kill: Kill | undefined): Promise<string | undefined> {
    const answering = this.#answer();
    this.#course.answering.push(answering);
    const following = this.#startFollower();
    const phase = kill === undefined ? undefined : await this.#strike(kill);
    await waitFor('the end of an attempt', () => this.#isOver());
    await following;
    return phase;
  }

  #isOver(): boolean {
    if (!this.#isCommandOver) return false;
    const { lane, runId } = this.#course;
    const record = runId === undefined ? undefined : lane.recordOf(runId);
    if (record !== undefined && !isFinal(record.state) && isRunning(record.supervisor)) return false;
    this.#findRun();
    return lane.supervisors().length === 0;
  }

  #findRun(): string | undefined {
    const { lane, known } = this.#course;
    this.#course.runId ??= lane.runIds().find((runId) => !known.has(runId));
    return this.#course.runId;
  }

  async #strike({ victim, point, turns }: Kill): Promise<string | undefined> {
    const isReached = () => {
      if (point.kind === 'started') return true;
      const runId = this.#findRun();
      if (runId === undefined) return false;
      if (point.kind === 'folder') return existsSync(join(this.#course.lane.runsDir, runId));
      const events = this.events.slice(this.#since);
      return point.kind === 'events'
        ? events.length >= point.count
        : events.some(({ type }) => type === point.type);
    };
    await waitFor('the moment of a kill', () => isReached() || this.#isOver());
    for (;;) {
      const pids = findVictim(victim, this.#cast());
      if (pids.length > 0) {
        for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
        const phase = phaseOf(this.events.slice(this.#since), this.#since > 0);
        const struck = pids.filter((pid) => killNow(pid));
        return struck.length === 0 ? undefined : phase;
      }
      if (this.#isOver()) return undefined;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  #cast(): Cast {
    const { lane, runId } = this.#course;
    const follower = this.#follower?.child;
    const followerPids = follower?.exitCode === null ? [follower.pid!] : [];
    const callerPid = this.#command.child.pid!;
    return { lane, runId, callerPid, isSupervisedHere: this.isSupervisedHere, followerPids };
  }

  async #startFollower(): Promise<void> {
    const { lane, plan } = this.#course;
    const isThere = () => this.#findRun() !== undefined && lane.recordOf(this.#course.runId!) !== undefined;
    await waitFor('a record to follow', () => isThere() || this.#isOver());
    if (!isThere() || this.#isOver()) return;
    const runId = this.#course.runId!;
    const args = plan.follower === 'logs' ? ['logs', runId, '--follow'] : ['attach', runId];
    this.#follower = lane.start([...args, '--since', String(this.#since)]);
    this.#follow(plan.follower, this.#since, this.#follower);
  }

  #follow(name: string, since: number | null, running: Running): void {
    this.#course.streams.push({ name, since, running });
  }

  /** Answers every question of the run, from another shell, until the attempt is over. */
  async #answer(): Promise<void> {
    const { lane, acknowledged, nextChoice } = this.#course;
    while (!this.#isOver()) {
      const events = this.events.slice(this.#since);
      const open = events.findLast(({ type }) => type === 'action_required');
      const isOpen = !events.some(
        ({ type, action_id, seq }) =>
          type === 'action_answered' && action_id === open?.action_id && seq > open!.seq,
      );
      if (open !== undefined && isOpen) {
        const choice = nextChoice();
        const id = String(open.action_id);
        const { ok } = await lane.envelope(['answer', this.#course.runId!, id, '--choice', choice]);
        if (ok) acknowledged.set(id, choice);
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
