import * as z from 'zod';
import { runRecord } from '../../protocol/run-record.ts';
import { acorOperation } from '../define.ts';
import {
  artifactShape,
  clocks,
  lost,
  runId,
  shownQuestions,
  survivorShape,
  unverifiedShape,
} from '../shapes.ts';
import { shownRunOf } from './show-run.ts';

const shownRun = runRecord.extend({
  dir: z.string(),
  lost: lost.optional(),
  unverified: unverifiedShape.optional(),
  last_event_at: z.string().nullable(),
  ...clocks(),
  progress: z
    .object({ step: z.string().nullable(), pct: z.number().nullable(), msg: z.string().nullable() })
    .nullable(),
  questions: shownQuestions,
  result: z.record(z.string(), z.unknown()).nullable(),
  error: z.record(z.string(), z.unknown()).nullable(),
  cancelled_by: z.string().optional().describe('Who cancelled the run; absent where ACOR did.'),
  hint: z.string().nullable().describe('How to fix a failed run.'),
  stderr: z.array(z.string()).optional().describe('The last lines of stderr of a failed run.'),
  artifacts: z.array(artifactShape),
  undecided: z
    .array(
      z.object({
        path: z.string(),
        mode: z.enum(['review', 'snapshot']),
        state: z.enum(['open', 'pending', 'too_large']),
        run_id: z
          .string()
          .optional()
          .describe('The run that has the changes, when it is one that this run has started.'),
      }),
    )
    .optional()
    .describe(
      'The files and folders whose changes can be applied or discarded (review), or undone (snapshot).',
    ),
  survivors: z.array(survivorShape),
  usage: z.record(z.string(), z.unknown()).nullable(),
});

export const runShow = acorOperation({
  name: 'run.show',
  summary: 'Show one run: its state, progress, result and artifacts.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({ run: runId.default('last') }),
  output: shownRun,
  positionals: ['run'],
  list: 'artifacts',
  example: 'acor show r-0123456789abcdef',
  run: shownRunOf,
});
