import { applyKept } from '../../core/review/settle.ts';
import { acorOperation } from '../define.ts';
import { settleChanges, settled, settleInput } from './kept-changes.ts';

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
  run: (input, ctx) => settleChanges('apply', applyKept, input, ctx),
});
