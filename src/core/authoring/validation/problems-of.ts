import { AcorError } from '../../../protocol/acor-error.ts';
import type { Problem } from '../../config/problem.ts';
import { type Finding, findingOf } from './finding.ts';

/** What a reader of files refuses, as findings. Anything else that it throws is none of theirs. */
export async function problemsOf(read: () => Promise<unknown>): Promise<Finding[]> {
  try {
    await read();
    return [];
  } catch (error) {
    const problems = error instanceof AcorError ? error.details?.['problems'] : undefined;
    if (!Array.isArray(problems)) throw error;
    return (problems as Problem[]).map(findingOf);
  }
}
