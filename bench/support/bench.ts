import type { Program } from './program.ts';
import type { Workplace } from './workplace.ts';

/** What a figure counts; it also says which way is better: rates and options that are read are better high, everything else is better low. */
export type Unit =
  | 'ms'
  | 'ns'
  | 'events/s'
  | 'steps/s'
  | 'MB/s'
  | 'bytes'
  | 'options'
  | 'inodes'
  | 'exponent';

/** What contract §11 asks for, and whether the measured figure keeps to it. */
export interface Target {
  text: string;
  met: boolean;
}

/** One figure of ACOR's beside one that was measured in turn with it. */
export interface Row {
  what: string;
  unit: Unit;
  acor: number;
  baseline: { what: string; value: number } | null;
  target: Target | null;
}

/** What every benchmark is given. */
export interface BenchContext {
  program: Program;
  workplace: Workplace;
  /** Also the sizes that take minutes. */
  long: boolean;
  /** The folder for pictures. */
  plots: string;
}

/** One benchmark: a file in `cases/`, and a line in their list. */
export interface Bench {
  name: string;
  summary: string;
  run(context: BenchContext): Promise<Row[]>;
}
