import { resolve } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { SEE_CONFIG } from '../../protocol/next-steps.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { RunRequest } from '../run/run-request.ts';
import { EXECUTOR_NAMES, refuseUntrustedExecutor, toolNameOf } from './executors.ts';

/** A task for an agent. */
export interface GivenTask {
  /** Names the conversation: the same id continues it. */
  taskId: string;
  description: string;
  /** A file with the plan. */
  plan?: string | undefined;
  /** The executor, instead of the configured one. */
  executor?: string | undefined;
}

/** The request that runs a task. Throws E_CONFIG_INVALID when no executor is named or configured, and E_APPROVAL_REQUIRED for one that is not trusted. */
export function taskCall(
  { taskId, description, plan, executor }: GivenTask,
  { config, cwd }: { config: LoadedConfig; cwd: string },
): Pick<RunRequest, 'kind' | 'tool' | 'args'> {
  return {
    kind: 'task',
    tool: toolNameOf(executor ?? configuredExecutor(config)),
    args: [
      `--task-id=${taskId}`,
      `--description=${description}`,
      ...(plan === undefined ? [] : [`--plan=${resolve(cwd, plan)}`]),
    ],
  };
}

function configuredExecutor(config: LoadedConfig): string {
  const { executor } = config.config.task;
  if (typeof executor === 'string') return executor;
  if (executor !== undefined) return 'command';
  refuseUntrustedExecutor(config);
  throw new AcorError('E_CONFIG_INVALID', 'no task executor is configured', {
    hint: `Write task: { executor: codex } in .acor/config.yaml, or pass --executor ${EXECUTOR_NAMES.join('|')}`,
    next: [SEE_CONFIG],
  });
}
