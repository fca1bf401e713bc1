import { existsSync } from 'node:fs';
import { AcorError } from '../../../../protocol/acor-error.ts';
import type { LoadedConfig } from '../../../config/load.ts';
import { placeText } from '../../../config/problem.ts';
import { errorCodeFiles, readErrorCodes } from '../../../registry/error-codes.ts';
import type { ToolEntry } from '../../../registry/tool-entry.ts';
import { WatchedFiles } from '../../../registry/watched-files.ts';
import type { PlannedFile } from '../planned-file.ts';

/** What keeps tools and error codes of a project that was moved over from being used, for a person to put right. */
export async function openProblems(
  config: LoadedConfig,
  tools: readonly ToolEntry[],
): Promise<PlannedFile[]> {
  const ofTools = tools.flatMap(({ problems }) =>
    problems.map(
      (problem): PlannedFile => ({
        path: problem.file,
        action: 'could_not',
        why: `${placeText(problem)}: ${problem.message}`,
        by_hand: problem.fix,
        ...(problem.next && { next: problem.next }),
      }),
    ),
  );
  return [...ofTools, ...(await ofErrorCodes(config))];
}

async function ofErrorCodes(config: LoadedConfig): Promise<PlannedFile[]> {
  const path = errorCodeFiles(config).find((each) => existsSync(each));
  if (path === undefined) return [];
  try {
    await readErrorCodes([path], new WatchedFiles());
    return [];
  } catch (error) {
    if (!(error instanceof AcorError)) throw error;
    return [{ path, action: 'could_not', why: error.message, by_hand: error.hint ?? 'Mend it.' }];
  }
}
