import { undoKept } from '../../core/review/settle.ts';
import { keptSteps } from '../../core/review/undecided.ts';
import { acorOperation } from '../define.ts';
import { changedPaths, endedRun, settled, settledData, settleInput } from './kept-changes.ts';

export const runUndo = acorOperation({
  name: 'run.undo',
  summary: 'Restore what a run changed in place from the snapshot that was made before it.',
  effect: 'destroys',
  idempotent: false,
  rateLimit: null,
  input: settleInput,
  output: settled,
  positionals: ['run', 'paths'],
  list: 'paths',
  example: 'acor undo r-0123456789abcdef --dry-run',
  moreExamples: ['acor undo last src'],
  async run({ run, paths, dry_run }, ctx) {
    const ended = await endedRun(run, ctx);
    const done = await undoKept(ended, changedPaths(paths, ctx.cwd), dry_run);
    const data = settledData(run, done, dry_run);
    return { kind: 'data', data, next: keptSteps(run, ended.dir) };
  },
});
