import type { LaunchRequest } from '../ports/run-launcher.ts';
import type { ToolEntry } from '../registry/registry.ts';
import type { PathGrant, SandboxRequest } from '../sandbox/sandbox.ts';
import type { AnswerHandler } from './answers/question.ts';

/** How an observed tool is called and confined. */
export interface ObservedTool {
  sandbox: Omit<SandboxRequest, 'network'>;
  argumentGrants: readonly PathGrant[];
}

/** A request within this process: a launch request, with what cannot cross to another process. */
export interface RunRequest extends Omit<LaunchRequest, 'stdin' | 'input'> {
  /** The tool, when the caller has found it already. */
  found?: ToolEntry;
  readStdin?: () => string;
  /** The standard input of the program. Its run keeps it for further attempts. */
  input?: Uint8Array;
  onQuestion?: AnswerHandler;
  /** The tool is observed: `trace` in the run's folder gets its system calls. Called before it starts. */
  observe?: (tool: ObservedTool) => void;
}

/** The request that a supervisor received. */
export function runRequestOf({ stdin, input, ...request }: LaunchRequest): RunRequest {
  return {
    ...request,
    ...(stdin !== undefined && { readStdin: () => stdin }),
    ...(input !== undefined && { input: Buffer.from(input, 'base64') }),
  };
}
