import type { RunRequest } from './run-request.ts';

/** Starts supervisors for the child runs of a workflow. They are processes that outlive the workflow's supervisor. */
export interface ChildHosts {
  /**
   * Starts a run and returns its id once it has begun, or the id of the run that was started with the same idempotency key. Throws an
   * AcorError when the run cannot begin.
   */
  start(request: RunRequest): Promise<string>;
  /** Call it when no more runs will be started. Live runs continue. */
  close(): void;
}
