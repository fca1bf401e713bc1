import type { NextStep } from '../../protocol/next-steps.ts';
import type { FinalState } from '../../protocol/run.ts';
import type { Survivor } from '../../protocol/v1/runner-events.ts';
import type { MeasuredArtifact } from '../store-files/artifacts.ts';

/** How a run ended, as every surface shows it. `summarise` builds it in the run's supervisor, `summaryOf` from the store. */
export interface RunSummary {
  run_id: string;
  tool: string;
  state: FinalState;
  code: string | null;
  message: string | null;
  hint: string | null;
  retryable: boolean;
  rc: number | null;
  signal: string | null;
  attempt: number;
  duration_s: number;
  events: number;
  artifacts: MeasuredArtifact[];
  survivors: Pick<Survivor, 'pid' | 'command'>[];
  /** The tool's last message, if that is a result. */
  result: Record<string, unknown> | null;
  /** What the runner warned of: the first messages, each once. */
  warnings: readonly string[];
  next: NextStep[];
  dir: string;
}
