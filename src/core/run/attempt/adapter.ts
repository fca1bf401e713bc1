import type { MeasuredArtifact } from '../../store-files/artifacts.ts';
import type { ToolPlan } from '../plan/tool-plan.ts';
import type { RunWorkspace } from '../workspace.ts';
import type { Intake } from './intake.ts';

/** Turns what a program writes on stdout into protocol events. One for each attempt. */
export interface Adapter {
  /** One line, `bytes[start..end)`; `cut` when it was longer than the limit. The bytes are only valid during the call. */
  line(bytes: Uint8Array, start: number, end: number, cut: boolean): void;
  /** The program has ended: by itself with this exit code, or, with null, by a signal or after its last word. */
  end(rc: number | null): void;
  /** The attempt is over, however it ended. */
  close?(): void;
  /** How an answer is put to the program: `line` as the protocol has it, or what this program reads instead. */
  answer?(line: string): string;
  /** The files that the program told of, as they were found on the disk at its end. */
  readonly files?: readonly MeasuredArtifact[];
}

/** What an adapter works with. */
export interface AdapterContext {
  intake: Intake;
  plan: ToolPlan;
  layout: RunWorkspace;
  /** Which attempt of the run this is, from 1. */
  attempt: number;
  /** When the run was made: files that have not changed since are not its work. */
  runMadeMs: number;
  /** Hands the program a line on its standard input, if it listens. */
  send(line: string): void;
  /** The program has said its last word: its input is closed, and it is ended if it stays. */
  onLastWord(): void;
  /** Does work outside of the program's own output, such as on a timer. */
  later(work: () => void): void;
}

/** One way of reading a program's stdout. */
export interface AdapterKind {
  make(context: AdapterContext): Adapter;
  /** Whether stdout is text and not JSON, so that a secret in it is not spelled as in JSON. */
  isText?: boolean;
  /** Whether empty lines mean something. */
  keepsEmptyLines?: boolean;
  /** Whether the program takes its standard input for its own, so that it must be at its end. */
  hearsNoAnswers?: boolean;
}
