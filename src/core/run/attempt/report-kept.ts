import { errorMessage } from '../../../util/error-code.ts';
import type { RunLog } from '../../ports/run-store.ts';
import { compareKept, keptWords } from '../../review/keep-writes.ts';

/** Reports what a run has changed in the places that it keeps. `outputs` are the targets that stay as they are until the change is applied. */
export async function reportKept(log: RunLog, dir: string, outputs: readonly string[]): Promise<void> {
  const warn = (code: string, msg: string) => log.append({ type: 'runner_warning', code, msg });
  try {
    const { summaries, tooLarge } = await compareKept(dir, outputs);
    for (const summary of summaries)
      log.append({ type: 'runner_log', level: 'info', msg: keptWords(summary), kept: summary });
    for (const problem of tooLarge)
      warn('E_OUTPUT_LIMIT', `the changes of the run are too large to be compared: ${problem}`);
  } catch (error) {
    warn('E_STORAGE', `the changes of the run could not be compared: ${errorMessage(error)}`);
  }
}
