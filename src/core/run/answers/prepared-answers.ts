import type { LoadedConfig } from '../../config/load.ts';
import type { RunRequest } from '../run-request.ts';
import type { PreparedAnswer } from './questions.ts';

/** The answers known before a run starts: those of the caller, then those of the configuration's rules for this tool or workflow. */
export function preparedAnswers(
  { config }: Pick<LoadedConfig, 'config'>,
  request: RunRequest,
  name: string,
): PreparedAnswer[] {
  const ruled = config.answers
    .filter(({ tool }) => tool === undefined || tool === name)
    .map(({ action, answer, reason }) => ({
      action,
      answer,
      by: 'configuration',
      source: 'policy' as const,
      ...(reason !== undefined && { reason }),
    }));
  return [...(request.answers ?? []), ...ruled];
}
