import { runName } from '../../../protocol/run.ts';
import { traceVariables } from '../../../util/ids.ts';
import { newSha256 } from '../../../util/sha256.ts';
import { unreachable } from '../../../util/unreachable.ts';
import type { LaunchRequest } from '../../ports/run-launcher.ts';
import { jsonWords } from '../../registry/json-words.ts';
import { asText, evaluate, type Scope } from '../expression/expression.ts';
import type { StepArguments } from '../model.ts';
import { pipeCall } from '../pipe/pipe-call.ts';
import type { Engine } from './engine.ts';
import type { ChildTask } from './task.ts';

const LONGEST_TASK_ID_IN_KEY = 100;

/** The request that starts a task's child run. Throws an AcorError when an expression has no value. */
export function childRequest(
  { plan, writer, costs }: Engine,
  task: ChildTask,
  scope: Scope,
  number: number,
): LaunchRequest {
  const { work, timeoutS } = task;
  const { run_id } = writer.record;
  const maxCostUsd = costs.partOf(task.id);
  const { callerEnv, group, answers, caller, cwd } = plan;
  return {
    ...callOf(work, scope),
    cwd,
    env: { ...callerEnv, ...traceVariables(plan) },
    parent: { run_id, task_id: task.id },
    idempotencyKey: `${run_id}/${shortened(task.id)}/${number}`,
    answers,
    ...(timeoutS !== undefined && { timeoutS }),
    ...(maxCostUsd !== undefined && { maxCostUsd }),
    ...(group !== null && { group }),
    ...(caller !== null && { caller }),
  };
}

function callOf(work: ChildTask['work'], scope: Scope): Pick<LaunchRequest, 'kind' | 'tool' | 'args'> {
  switch (work.kind) {
    case 'tool':
      return { kind: 'tool', tool: work.tool, args: wordsOf(work.args, scope) };
    case 'workflow':
      return { kind: 'workflow', tool: runName('workflow', work.file), args: jsonOf(work.inputs, scope) };
    case 'pipe':
      return pipeCall(work.stages.map(({ tool, args }) => [tool, ...wordsOf(args, scope)]));
    default:
      return unreachable(work);
  }
}

/** The arguments as words, or as values by input name. A null value is omitted. */
function wordsOf(args: StepArguments, scope: Scope): string[] {
  if (args.form === 'named') return jsonOf(args.values, scope);
  return args.words.map((word) => asText(evaluate(word, scope)));
}

function jsonOf(values: Extract<StepArguments, { form: 'named' }>['values'], scope: Scope): string[] {
  const given = Object.entries(values)
    .map(([name, value]) => [name, evaluate(value, scope)] as const)
    .filter(([, value]) => value !== null && value !== undefined);
  return jsonWords(Object.fromEntries(given));
}

function shortened(taskId: string): string {
  if (taskId.length <= LONGEST_TASK_ID_IN_KEY) return taskId;
  return newSha256().update(taskId).digest('hex');
}
