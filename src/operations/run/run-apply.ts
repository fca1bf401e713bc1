import { applyKept } from '../../core/review/settle.ts';
import { keptSteps } from '../../core/review/undecided.ts';
import { acorOperation } from '../define.ts';
import { changedPaths, endedRun, settled, settledData, settleInput } from './kept-changes.ts';

export const runApply = acorOperation({
  name: 'run.apply',
  summary: 'Put the changes of a run that are in its layers in place: all, or some paths.',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input: settleInput,
  output: settled,
  positionals: ['run', 'paths'],
  list: 'paths',
  example: 'acor apply r-0123456789abcdef',
  moreExamples: ['acor apply last src/report.md --dry-run'],
  async run({ run, paths, dry_run }, ctx) {
    const ended = await endedRun(run, ctx);
    const done = await applyKept(ended, changedPaths(paths, ctx.cwd), dry_run);
    const data = settledData(run, done, dry_run);
    return { kind: 'data', data, next: keptSteps(run, ended.dir) };
  },
});
