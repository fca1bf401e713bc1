import { AcorError } from '../../../protocol/acor-error.ts';
import type { NextStep } from '../../../protocol/next-steps.ts';
import { runName } from '../../../protocol/run.ts';
import { shellCommand, splitCommand } from '../../../util/shell-words.ts';
import { toolMayAsk } from '../../run/may-ask.ts';
import type { RunRequest } from '../../run/run-request.ts';
import type { RunnerServices } from '../../run/services.ts';

/** One tool call of a pipe. */
export interface Stage {
  /** The stage's id in the pipe's events: its position from 1, and its tool. */
  taskId: string;
  tool: string;
  args: string[];
}

const LEAST_STAGES = 2;

/** The request that runs a pipe of these calls. */
export function pipeCall(calls: readonly (readonly string[])[]): Pick<RunRequest, 'kind' | 'tool' | 'args'> {
  const tools = calls.map(([tool = '']) => tool);
  return {
    kind: 'pipe',
    tool: runName('pipe', tools.join('|')),
    args: calls.map((call) => shellCommand(call)),
  };
}

/** The call for stages that were written as in a shell, in one word. */
function splitAtBars([line = '']: readonly string[]): NextStep[] {
  const stages: string[][] = [[]];
  for (const word of splitCommand(line) ?? []) {
    if (word === '|') stages.push([]);
    else stages.at(-1)!.push(word);
  }
  if (stages.length < LEAST_STAGES || stages.some((words) => words.length === 0)) return [];
  return [
    {
      operation: 'workflow.pipe',
      input: { stages: stages.map((words) => shellCommand(words)) },
      why: 'Run the tools as a pipe.',
    },
  ];
}

/**
 * Splits the command lines of a pipe into calls, as a shell splits words, without any other shell syntax. Throws
 * E_USAGE.
 */
export function callsOf(lines: readonly string[]): string[][] {
  if (lines.length < LEAST_STAGES) {
    throw new AcorError('E_USAGE', `a pipe needs at least ${LEAST_STAGES} tools, got ${lines.length}`, {
      hint: 'Pass each tool with its arguments as one quoted word, for example: "producer --n 5" "consumer"',
      next: splitAtBars(lines),
    });
  }
  return lines.map((line, index) => {
    const words = splitCommand(line);
    if (words !== undefined && words.length > 0) return words;
    const why = words === undefined ? 'a quote in it is never closed' : 'it is empty';
    throw new AcorError('E_USAGE', `stage ${index + 1} of the pipe cannot be read: ${why}`, {
      hint: `Pass a tool and its arguments, such as "producer --n 5"; got: ${JSON.stringify(line)}`,
    });
  });
}

/** The stages of a pipe, from its command lines. */
export function stagesOf(lines: readonly string[]): Stage[] {
  return callsOf(lines).map(([tool = '', ...args], index) => ({
    taskId: `${index + 1}.${tool}`,
    tool,
    args,
  }));
}

/** Whether a pipe of these command lines may wait for an answer. */
export async function mayAsk(
  { registry, config }: RunnerServices,
  lines: readonly string[],
): Promise<boolean> {
  for (const { tool } of stagesOf(lines)) {
    // An unknown tool is reported, with its place, when the pipe is planned.
    const found = await registry.find(tool).catch(() => undefined);
    if (found !== undefined && toolMayAsk(found, config)) return true;
  }
  return false;
}
