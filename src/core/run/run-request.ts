import type { LaunchRequest } from '../ports/run-launcher.ts';
import type { ToolEntry } from '../registry/registry.ts';
import type { AnswerHandler } from './answers/questions.ts';

/** What a caller asks of the process that supervises the run: a `LaunchRequest`, and what only this process can have. */
export interface RunRequest extends Omit<LaunchRequest, 'stdin'> {
  /** The tool, if the caller has looked it up for this request: discovery is not repeated. */
  found?: ToolEntry;
  readStdin?: () => string;
  /** Asked for answers that are not prepared. */
  onQuestion?: AnswerHandler;
}

/** The request as another process can take it. That process looks the tool up again, and asks no handler. */
export function launchRequestOf({ found, readStdin, onQuestion, ...request }: RunRequest): LaunchRequest {
  return { ...request, ...(readStdin && { stdin: readStdin() }) };
}

/** The request as the supervising process executes it. */
export function runRequestOf({ stdin, ...request }: LaunchRequest): RunRequest {
  return { ...request, ...(stdin !== undefined && { readStdin: () => stdin }) };
}
