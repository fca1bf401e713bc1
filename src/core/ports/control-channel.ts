import type { AnswerSource } from '../../protocol/v1/wire.ts';

/** An answer to a run's question, for its supervisor to check and record. */
export interface PostedAnswer {
  answer_id: string;
  action_id: string;
  answer: unknown;
  by: string;
  source: AnswerSource;
  reason?: string;
}

export interface CancelOptions {
  /** Skip the grace periods. */
  force?: boolean;
  /** The user or agent who cancels. Undefined: ACOR itself, for the given reason. */
  by?: string | undefined;
}

/** Handles the requests of other processes to a run's supervisor. */
export interface ControlHandlers {
  /** Cancel the run. Called once. `by` is undefined when ACOR itself cancels it. */
  onCancel(reason: string, by?: string): void;
  /** Cancel the run without grace periods. Called once. */
  onForceCancel(): void;
  onAnswer(posted: PostedAnswer): void;
}

/** A supervisor's end of the channel. */
export interface ControlListener {
  /** How many bytes of the run's log the reader of its records has acknowledged; undefined while no run reads them. */
  consumed(): number | undefined;
  /** Handles the requests that are there now. A supervisor that was stopped learns of the end of its tool before the channel reports why. */
  look(): Promise<void>;
  close(): void;
}

/** The end of the channel for a run that reads another run's records. */
export interface RecordsReader {
  /** Reports the total bytes of the other run's log that were consumed. */
  acknowledge(consumedBytes: number): void;
  close(): void;
}

/**
 * The port to a live run: requests to cancel it, answers to its questions, and the acknowledgements of the run that reads its
 * records. Every implementation passes `test/contracts/control-channel.ts`.
 */
export interface ControlChannel {
  /** Asks a run's supervisor to cancel it. The first request's reason and `by` are kept. */
  requestCancel(runId: string, reason: string, options?: CancelOptions): Promise<void>;
  postAnswer(runId: string, posted: PostedAnswer): Promise<void>;
  /** Opens a reader's end of the channel for the run's records. */
  readRecords(runId: string): RecordsReader;
  /**
   * Calls the handlers for pending and future requests, until it is closed. Answers are left to the supervisor that holds the run's
   * lease: a listener of a past epoch takes none.
   */
  listen(runId: string, epoch: number, handlers: ControlHandlers): ControlListener;
  /** Drops the requests to an attempt that has ended. Without effect unless the lease of `epoch` is still the run's newest. */
  reset(runId: string, epoch: number): Promise<void>;
}
