import { AcorError } from '../../protocol/acor-error.ts';
import { isOrchestration } from '../../protocol/run.ts';
import { processors } from '../../util/system.ts';
import type { LaunchRequest, RunLauncher } from '../ports/run-launcher.ts';
import { Supervisor, startSupervisor } from './start-supervisor.ts';

/** A run takes a dozen descriptors of its supervisor. */
const MOST_RUNS = 16;

interface PoolOptions {
  /** So many idle supervisors are kept for later runs; the others exit. */
  maxFree?: number;
  /** Keeps one ready for the next run. */
  spare?: boolean;
  /** When there are so many, the next run is given to the one with the fewest, unless that has `MOST_RUNS`. */
  most?: number;
}

/** A run, from its request to its end. */
interface Work {
  runId?: string;
  recorded?: Promise<void>;
}

/** Supervisors for many runs. One whose runs have ended takes the next run. */
export class SupervisorPool implements RunLauncher {
  readonly #callerEnv: LaunchRequest['env'];
  readonly #maxFree: number;
  readonly #spare: boolean;
  readonly #most: number;
  /** The work of each supervisor, the oldest first: what it has done before is done faster. */
  readonly #works = new Map<Supervisor, Set<Work>>();

  constructor(callerEnv: LaunchRequest['env'], { maxFree, spare, most }: PoolOptions = {}) {
    this.#callerEnv = callerEnv;
    this.#maxFree = maxFree ?? Number.POSITIVE_INFINITY;
    this.#spare = spare ?? false;
    this.#most = most ?? Number.POSITIVE_INFINITY;
  }

  async start(request: LaunchRequest): Promise<string> {
    // The supervisor of a workflow or a pipe has children of its own, which a tool that runs beside it must not be blamed for.
    if (isOrchestration(request.kind)) return startSupervisor(request);
    const supervisor = this.#choose();
    const work: Work = {};
    this.#works.get(supervisor)!.add(work);
    try {
      const { runId, recorded, ended } = await supervisor.start(request);
      Object.assign(work, { runId, recorded });
      ended.then(
        () => this.#end(supervisor, work),
        () => this.#drop(supervisor),
      );
      if (this.#spare && this.#idle().length === 0) this.#another();
      return runId;
    } catch (error) {
      // When a run did not start, the supervisor reported it. After any other error its state is unknown.
      if (error instanceof AcorError && error.code !== 'E_SPAWN_FAILED') this.#end(supervisor, work);
      else this.#drop(supervisor);
      throw error;
    }
  }

  recorded(runId: string): Promise<void> | undefined {
    return this.#workOf(runId)?.work.recorded;
  }

  /** What is left to do for the run takes less than the start of another supervisor. */
  ended(runId: string): void {
    const found = this.#workOf(runId);
    if (found !== undefined) this.#end(found.supervisor, found.work);
  }

  close(): void {
    for (const supervisor of this.#works.keys()) supervisor.leaveAlone();
    this.#works.clear();
  }

  #workOf(runId: string): { supervisor: Supervisor; work: Work } | undefined {
    for (const [supervisor, works] of this.#works)
      for (const work of works) if (work.runId === runId) return { supervisor, work };
    return undefined;
  }

  /** One that has died, or that could not be started ahead of its need, is replaced. */
  #choose(): Supervisor {
    for (const supervisor of this.#works.keys()) if (supervisor.isLost) this.#drop(supervisor);
    const [idle] = this.#idle();
    if (idle !== undefined) return idle;
    if (this.#works.size < this.#most) return this.#another();
    const [least] = [...this.#works].sort(([, one], [, other]) => one.size - other.size);
    return least![1].size < MOST_RUNS ? least![0] : this.#another();
  }

  #idle(): Supervisor[] {
    return [...this.#works].filter(([, works]) => works.size === 0).map(([supervisor]) => supervisor);
  }

  #another(): Supervisor {
    const supervisor = new Supervisor(this.#callerEnv);
    this.#works.set(supervisor, new Set());
    return supervisor;
  }

  /** Does nothing for work whose end the caller has reported. */
  #end(supervisor: Supervisor, work: Work): void {
    const works = this.#works.get(supervisor);
    if (!works?.delete(work) || works.size > 0) return;
    if (this.#idle().length > this.#maxFree) this.#drop(supervisor);
  }

  #drop(supervisor: Supervisor): void {
    this.#works.delete(supervisor);
    supervisor.leaveAlone();
  }
}

/** For the steps of a workflow: more supervisors than processors would only take memory, and start slower than they work. */
export function poolOfWorkflow(callerEnv: LaunchRequest['env']): SupervisorPool {
  return new SupervisorPool(callerEnv, { most: processors() });
}
