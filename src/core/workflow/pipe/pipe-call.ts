import { AcorError } from '../../../protocol/acor-error.ts';
import { runName } from '../../../protocol/run-kind.ts';
import { shellCommand } from '../../../util/shell-quote.ts';
import { splitCommand } from '../../../util/split-command.ts';
import type { RunRequest } from '../../run/run-request.ts';

/** One tool of a pipe, as it was called. */
export interface Stage {
  /** By which the pipe's events name it: its place, from 1, and its tool. */
  taskId: string;
  tool: string;
  args: string[];
}

const LEAST_STAGES = 2;

/** What to ask for to have a pipe of these calls run, each a tool and its arguments. */
export function pipeCall(calls: readonly (readonly string[])[]): Pick<RunRequest, 'kind' | 'tool' | 'args'> {
  const tools = calls.map(([tool = '']) => tool);
  return {
    kind: 'pipe',
    tool: runName('pipe', tools.join('|')),
    args: calls.map((call) => shellCommand(call)),
  };
}

/** The calls of command lines, a stage each: split as a shell splits them, and nothing else. Throws E_USAGE. */
export function callsOf(lines: readonly string[]): string[][] {
  if (lines.length < LEAST_STAGES) {
    throw new AcorError(
      'E_USAGE',
      `a pipe has at least ${LEAST_STAGES} tools, and this one ${lines.length}`,
      {
        hint: 'Give each tool with its arguments as one word, such as: "producer --n 5" "consumer"',
      },
    );
  }
  return lines.map((line, index) => {
    const words = splitCommand(line);
    if (words !== undefined && words.length > 0) return words;
    const why = words === undefined ? 'a quote in it is never closed' : 'it is empty';
    throw new AcorError('E_USAGE', `stage ${index + 1} of the pipe cannot be read: ${why}`, {
      hint: `Give a tool and its arguments, such as "producer --n 5"; this is: ${JSON.stringify(line)}`,
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
