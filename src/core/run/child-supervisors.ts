import type { RunRequest } from './run-request.ts';

/** Where the children of a workflow are supervised: by processes that outlive the one that asks. How they are started is not the core's business. */
export interface ChildHosts {
  /**
   * Starts a run and returns its id once it has begun, or that of the run that was started with the same idempotency key. Throws
   * an AcorError for what kept it from beginning.
   */
  start(request: RunRequest): Promise<string>;
  /** No more runs will be asked for; those that go on do so by themselves. */
  close(): void;
}
