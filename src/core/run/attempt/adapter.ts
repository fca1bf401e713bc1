import type { LineTaker } from '../../../protocol/jsonl.ts';
import type { ArtifactMeter, MeasuredArtifact } from '../../store-files/artifacts.ts';
import type { ToolPlan } from '../plan/tool-plan.ts';
import type { RunWorkspace } from '../workspace.ts';
import type { Intake } from './intake.ts';

/** Turns a program's stdout into protocol events. Each attempt has its own adapter. */
export interface Adapter {
  /**
   * One line, `bytes[start..end)`; `cut` when it was longer than the limit. The bytes are only valid during the call. Returns true when the
   * event log holds them unchanged.
   */
  line(bytes: Uint8Array, start: number, end: number, cut: boolean): unknown;
  /** Takes many lines at once, whose bytes the event log then holds. */
  readonly taker?: LineTaker;
  /** One line of stderr. True when it became an event; any other line is stored for people. */
  errorLine?(bytes: Uint8Array, start: number, end: number): boolean;
  /** The program has ended: measures the files that it reported. Called before `end`. */
  settle?(): Promise<void>;
  /** The program has ended: with this exit code, or null after a signal or when it did not exit after its last message. */
  end(rc: number | null): void;
  /** Releases resources at the end of every attempt. */
  close?(): void;
  /** Translates an answer from the protocol's `line` to the form that the program reads. */
  answer?(line: string): string;
  /** The files that the program reported, measured on disk when it ended. */
  readonly files?: readonly MeasuredArtifact[];
  /** Whether empty lines are significant. */
  readonly keepsEmptyLines?: boolean;
}

/** Measures files where artifacts of the run may be. */
export type FileMeter = Pick<ArtifactMeter, 'measure'>;

/** What an adapter gets to do its work. */
export interface AdapterContext {
  intake: Intake;
  plan: ToolPlan;
  layout: RunWorkspace;
  /** Which attempt of the run this is, from 1. */
  attempt: number;
  /** Measures the files that the program reports. */
  meter: FileMeter;
  /** The model that the program is to use, if its output does not name one. */
  model: string | undefined;
  /** When the run was created: the run did not write files that are older. */
  runCreatedMs: number;
  /** Writes a line to the program's standard input, if that is open. */
  send(line: string): void;
  /** The program sent its last message: the runner closes its input, and stops it when it does not exit. */
  onLastMessage(): void;
  /** Runs work that no output of the program triggers, such as a timer's. */
  later(work: () => void): void;
}

/** One way of reading a program's stdout. */
export interface AdapterKind {
  make(context: AdapterContext): Adapter;
  /** Whether stdout is text and not JSON, so that secrets in it are not JSON-escaped. */
  isText?: boolean;
  /** Whether a carriage return ends a line, as in the output of programs that overwrite their progress. */
  splitsAtReturn?: boolean;
  /** Whether the program would read its standard input as data, so that the input must be empty. */
  readsNoAnswers?: boolean;
}
