import type { LaunchRequest } from '../ports/run-launcher.ts';
import type { ToolEntry } from '../registry/registry.ts';
import type { AnswerHandler } from './answers/questions.ts';

/** A request within this process: a launch request, with what cannot cross to another process. */
export interface RunRequest extends Omit<LaunchRequest, 'stdin'> {
  /** The tool, when the caller has found it already. */
  found?: ToolEntry;
  readStdin?: () => string;
  onQuestion?: AnswerHandler;
  /** The tool is observed: `trace` in the run's folder gets its system calls. */
  observe?: true;
}

/** The request that a supervisor received. */
export function runRequestOf({ stdin, ...request }: LaunchRequest): RunRequest {
  return { ...request, ...(stdin !== undefined && { readStdin: () => stdin }) };
}
