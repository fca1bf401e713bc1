import type { LaunchRequest } from '../ports/run-launcher.ts';
import type { ToolEntry } from '../registry/registry.ts';
import type { AnswerHandler } from './answers/questions.ts';

/** The token of the plan that a dry run showed to the caller. */
export interface RunRequest extends Omit<LaunchRequest, 'stdin'> {
  /** The calling agent, for the record. */
  found?: ToolEntry;
  readStdin?: () => string;
  /** In a pipe: the run whose records this one reads, and whether another run reads the records of this one. */
  onQuestion?: AnswerHandler;
}

/** Set for the children of a workflow. */
export function launchRequestOf({ found, readStdin, onQuestion, ...request }: RunRequest): LaunchRequest {
  return { ...request, ...(readStdin && { stdin: readStdin() }) };
}

/** All runs of a group together take at most its number of queue slots, whatever processes supervise them. */
export function runRequestOf({ stdin, ...request }: LaunchRequest): RunRequest {
  return { ...request, ...(stdin !== undefined && { readStdin: () => stdin }) };
}
