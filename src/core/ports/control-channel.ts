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

/** What others may ask of a run's supervisor. */
export interface ControlHandlers {
  /** The run is to end. Called once. */
  onCancel(reason: string): void;
  /** The run is to end without any grace period. Called once. */
  onForceCancel(): void;
  onAnswer(posted: PostedAnswer): void;
}

/** A supervisor's end of the channel. */
export interface ControlListener {
  /** How many bytes of the run's log the reader of its records has acknowledged; undefined while no run reads them. */
  consumed(): number | undefined;
  close(): void;
}

/** The end of the run that reads another one's records. */
export interface RecordsReader {
  /** So many bytes of the other run's log were consumed. */
  acknowledge(consumedBytes: number): void;
  close(): void;
}

/**
 * The port to a live run: requests to cancel it, answers to its questions, and the acknowledgements of the run that reads its
 * records. Every implementation passes `test/contracts/control-channel.ts`.
 */
export interface ControlChannel {
  /** Asks a run's supervisor to end it. The first reason stays; `force` asks for no grace period. */
  requestCancel(runId: string, reason: string, options?: { force?: boolean }): Promise<void>;
  postAnswer(runId: string, posted: PostedAnswer): Promise<void>;
  /** Opens the run's records for acknowledging. */
  readRecords(runId: string): RecordsReader;
  /** Calls the handlers for what was asked and is asked from now on, until it is closed. */
  listen(runId: string, handlers: ControlHandlers): ControlListener;
  /** Drops what was asked of an attempt that is over. */
  reset(runId: string): Promise<void>;
}
