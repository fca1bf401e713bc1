import * as z from 'zod';
import { acorOperation } from '../define.ts';
import { runSummary, startedRun } from '../shapes.ts';
import { RUN_EXAMPLE, runFlags } from './run-flags.ts';
import { shownPlan } from './show-plan.ts';
import { runNamedTool } from './start-tool.ts';

export const output = z.lazy(() => z.union([runSummary, shownPlan, startedRun]));

export const runStart = acorOperation({
  name: 'run.start',
  summary: 'Run a tool under supervision and stream its events.',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input: z.object({
    tool: z.string().describe('The tool to run, or the path of a script or program: ./report.sh.'),
    args: z
      .array(z.string())
      .default([])
      .describe(
        "The tool's arguments. They may include flags of ACOR that the tool does not declare itself; after -- every word is for the tool. So is every word behind a script that declares no inputs.",
      ),
    ...runFlags,
  }),
  output,
  positionals: ['tool'],
  passthrough: 'args',
  example: RUN_EXAMPLE,
  moreExamples: [
    'acor run --timeout 60 --no-stream line_count README.md',
    'acor run data_migrator --source in --target out --dry-run',
  ],
  streams: 'Protocol events, one JSON object a line; the last line is runner_end.',
  callee: async (name, app) => (await import('./callee-of-tool.ts')).calleeOfTool(name, app),
  run: runNamedTool,
});
