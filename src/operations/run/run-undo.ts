import { undoKept } from '../../core/review/settle.ts';
import { acorOperation } from '../define.ts';
import { settleChanges, settled, settleInput } from './kept-changes.ts';

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
  run: (input, ctx) => settleChanges('undo', undoKept, input, ctx),
});
