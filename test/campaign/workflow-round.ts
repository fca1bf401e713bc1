import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isFinal } from '../../src/protocol/run.ts';
import type { RunRecord } from '../../src/protocol/run-record.ts';
import { isRunning } from '../../src/util/process-table.ts';
import { parseLines, processesOf } from '../support/project.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { gapsIn, lostSince, recordLies, stateBreaks } from './invariants.ts';
import { killNow } from './kill-now.ts';
import { waitFor } from './wait-for.ts';
import { TASKS, type WorkflowLane } from './workflow-lane.ts';

const VICTIMS = ['workflow', 'workflow', 'inner workflow', 'host', 'tool', 'caller'] as const;
type Victim = (typeof VICTIMS)[number];
const MAX_STARTS = 10;
const MOST_EVENTS = 40;

/** The outcome of a round of kills; no problems means that every invariant holds. */
export interface WorkflowRoundResult {
  number: number;
  kills: Victim[];
  starts: number;
  problems: string[];
}

/** Plays one round: starts the workflow, kills its processes, resumes it until it is completed, and checks the result. */
export async function playWorkflowRound(
  lane: WorkflowLane,
  seed: number,
  number: number,
): Promise<WorkflowRoundResult> {
  const round = new WorkflowRound(lane, new SeededRandom(seed * 1_000_003 + number), number);
  try {
    await round.play();
  } catch (error) {
    round.result.problems.push(error instanceof Error ? error.message : String(error));
  }
  for (const pid of lane.processes()) killNow(pid);
  return round.result;
}

class WorkflowRound {
  readonly result: WorkflowRoundResult;
  readonly #lane: WorkflowLane;
  readonly #random: SeededRandom;
  readonly #folder: string;
  readonly #known: ReadonlySet<string>;
  #runId: string | undefined;
  readonly #seen: string[] = [];

  constructor(lane: WorkflowLane, random: SeededRandom, number: number) {
    this.#lane = lane;
    this.#random = random;
    this.#folder = lane.recordFolder(number);
    this.#known = new Set(lane.runIds());
    this.result = { number, kills: [], starts: 0, problems: [] };
  }

  async play(): Promise<void> {
    while (this.#workflow()?.state !== 'completed' && this.result.starts < MAX_STARTS) await this.#start();
    await waitFor('the end of the last process', () => this.#lane.processes().length === 0);
    this.#judge();
    const { ok, error } = await this.#lane.envelope(['verify']);
    if (!ok) this.result.problems.push(`acor verify: ${error.message}`);
  }

  /** One start, with kills on the way, until the workflow itself has no live supervisor any more. */
  async #start(): Promise<void> {
    const detach = this.#random.chance(0.3) ? ['--detach'] : [];
    const begin = [
      'workflow',
      'run',
      this.#lane.file,
      '--record',
      this.#folder,
      '--answer',
      'pick=left',
      ...detach,
    ];
    const isResume = this.#runId !== undefined && this.#lane.recordOf(this.#runId) !== undefined;
    const command = this.#lane.start(
      isResume ? ['resume', this.#runId!, '--answer', 'pick=left', ...detach] : begin,
    );
    command.child.stdin!.end();
    const since = this.#log().length;
    const kills = this.result.starts++ < 3 ? 1 + this.#random.below(3) : 0;
    let isOver = false;
    void command.finished.then(() => {
      isOver = true;
    });
    const isDone = () => isOver && !this.#isLive();
    for (let left = kills; left > 0 && !isDone(); left--) {
      const events = since + 1 + this.#random.below(MOST_EVENTS);
      const victim = this.#random.pick(VICTIMS);
      let pid: number | undefined;
      const isThere = () => {
        if (this.#log().length < events) return false;
        pid = victim === 'caller' ? command.child.pid : this.#find(victim);
        return pid !== undefined;
      };
      await waitFor('the moment of a kill', () => isDone() || isThere());
      if (pid !== undefined && killNow(pid)) this.result.kills.push(victim);
    }
    await waitFor('the end of a start', isDone);
    if (this.#runId === undefined) return;
    this.#seen.push(this.#lane.log(this.#runId));
    if (this.#random.chance(0.5)) return;
    await this.#lane.envelope(['health', '--fix']);
  }

  #find(victim: Exclude<Victim, 'caller'>): number | undefined {
    const live = this.#children().filter((record) => !isFinal(record.state) && isRunning(record.supervisor));
    const isInner = ({ kind }: RunRecord) => kind === 'workflow';
    switch (victim) {
      case 'workflow':
        return this.#workflow()?.supervisor.pid;
      case 'inner workflow':
        return live.find(isInner)?.supervisor.pid;
      case 'host':
        return live.find((record) => !isInner(record))?.supervisor.pid;
      case 'tool':
        return live.flatMap(({ run_id }) => processesOf(run_id))[0];
    }
  }

  #judge(): void {
    const record = this.#workflow();
    if (record?.state !== 'completed') {
      this.#emit([`not completed after ${this.result.starts} starts: ${record?.state} ${record?.code}`]);
      return;
    }
    const log = this.#lane.log(record.run_id);
    const events = this.#log();
    this.#emit([...gapsIn(events), ...stateBreaks(events), ...recordLies(record, events)]);
    this.#emit(this.#seen.flatMap((earlier) => lostSince(earlier, log)));
    const effects = readdirSync(this.#folder)
      .filter((name) => name.startsWith('effect-'))
      .sort();
    const wanted = [...TASKS, 'last'].map((id) => `effect-${id}`).sort();
    if (effects.join() !== wanted.join()) this.#emit([`brought about: ${effects.join(' ')}`]);
    this.#emit(this.#doneAgain());
    this.#emit(this.#startedTwice());
  }

  /** No finished task of the workflow, or of the nested one, was started again; only the last step may be. */
  #doneAgain(): string[] {
    const workflows = [this.#workflow()!, ...this.#children()].filter(({ kind }) => kind === 'workflow');
    return workflows.flatMap(({ run_id }) => {
      const done = new Set<unknown>();
      const again: string[] = [];
      for (const { type, task_id, status } of parseLines(this.#lane.log(run_id))) {
        if (type === 'task_submitted' && done.has(task_id) && task_id !== 'last')
          again.push(`'${task_id}' of ${run_id} was done and was begun again`);
        if (type === 'task_done' && status === 'ok') done.add(task_id);
      }
      return again;
    });
  }

  /** Each try is one run: no two runs have the same key, and each run of a tool ran once. */
  #startedTwice(): string[] {
    const keys = this.#children().map(({ idempotency_key }) => idempotency_key);
    const twice = keys.filter((key, index) => key !== null && keys.indexOf(key) !== index);
    const journal = join(this.#folder, 'journal');
    const begun = (existsSync(journal) ? readFileSync(journal, 'utf8') : '')
      .split('\n')
      .filter((line) => line.startsWith('begin '));
    return [
      ...twice.map((key) => `two runs have the key ${key}`),
      ...begun
        .filter((line, index) => begun.indexOf(line) !== index)
        .map((line) => `twice in one run: ${line}`),
    ];
  }

  #workflow(): RunRecord | undefined {
    this.#runId ??= this.#records().find(({ parent }) => parent === null)?.run_id;
    return this.#runId === undefined ? undefined : this.#lane.recordOf(this.#runId);
  }

  #children(): RunRecord[] {
    return this.#records().filter(({ parent }) => parent !== null);
  }

  #records(): RunRecord[] {
    const ids = this.#lane.runIds().filter((id) => !this.#known.has(id));
    return ids.map((id) => this.#lane.recordOf(id)).filter((record) => record !== undefined);
  }

  #isLive(): boolean {
    const record = this.#workflow();
    if (record !== undefined && !isFinal(record.state) && isRunning(record.supervisor)) return true;
    // A run that was just requested may have no record yet.
    return record === undefined && this.#lane.supervisors().length > 0;
  }

  #log() {
    const log = this.#workflow() === undefined ? '' : this.#lane.log(this.#runId!);
    return parseLines(log.slice(0, log.lastIndexOf('\n') + 1));
  }

  #emit(problems: readonly string[]): void {
    this.result.problems.push(...problems);
  }
}
