import { AcorError } from '../../protocol/acor-error.ts';
import { isOrchestration } from '../../protocol/run.ts';
import type { LaunchRequest, RunLauncher } from '../ports/run-launcher.ts';
import { Supervisor, startSupervisor } from './start-supervisor.ts';

/** Supervisors for many runs: one per concurrent run, reused after its run has ended. */
export class SupervisorPool implements RunLauncher {
  readonly #callerEnv: LaunchRequest['env'];
  readonly #maxFree: number;
  readonly #spare: boolean;
  readonly #all = new Set<Supervisor>();
  readonly #free: Supervisor[] = [];

  /** `maxFree` idle supervisors are kept for later runs; the others exit. With `spare` one is kept ready for the next run. */
  constructor(
    callerEnv: LaunchRequest['env'],
    { maxFree = Number.POSITIVE_INFINITY, spare = false }: { maxFree?: number; spare?: boolean } = {},
  ) {
    this.#callerEnv = callerEnv;
    this.#maxFree = maxFree;
    this.#spare = spare;
  }

  async start(request: LaunchRequest): Promise<string> {
    // A workflow's or pipe's supervisor is not reused: it has child processes, which it could not distinguish from
    // orphans of a later tool.
    if (isOrchestration(request.kind)) return startSupervisor(request);
    const supervisor = this.#free.pop() ?? this.#another();
    try {
      const runId = await supervisor.start(request);
      supervisor.untilFree().then(
        () => this.#release(supervisor),
        () => this.#drop(supervisor),
      );
      if (this.#spare && this.#free.length === 0) this.#free.push(this.#another());
      return runId;
    } catch (error) {
      // When a run did not start, the supervisor reported it and is idle. After any other error its state is unknown.
      if (error instanceof AcorError && error.code !== 'E_SPAWN_FAILED') this.#release(supervisor);
      else this.#drop(supervisor);
      throw error;
    }
  }

  close(): void {
    for (const supervisor of this.#all) supervisor.leaveAlone();
    this.#all.clear();
    this.#free.length = 0;
  }

  #another(): Supervisor {
    const supervisor = new Supervisor(this.#callerEnv);
    this.#all.add(supervisor);
    return supervisor;
  }

  #release(supervisor: Supervisor): void {
    if (this.#free.length < this.#maxFree) this.#free.push(supervisor);
    else this.#drop(supervisor);
  }

  #drop(supervisor: Supervisor): void {
    this.#all.delete(supervisor);
    supervisor.leaveAlone();
  }
}
