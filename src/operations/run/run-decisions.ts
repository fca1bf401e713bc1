import * as z from 'zod';
import { tableOf } from '../../cli/present/views.ts';
import { cellText } from '../../compose/table.ts';
import { agoWords } from '../../compose/time-words.ts';
import { questionsOf } from '../../core/run/answers/open-questions.ts';
import { acorOperation } from '../define.ts';

const decision = z.object({
  run_id: z.string(),
  tool: z.string(),
  action_id: z.string(),
  action: z.string(),
  audience: z.enum(['ai', 'user']),
  context: z.unknown(),
  asked_at: z.string(),
  state: z.enum(['answered', 'open', 'unanswered']).describe('Unanswered: the attempt that asked is over.'),
  answer: z.unknown(),
  by: z.string().nullable(),
  source: z.string().nullable(),
  reason: z.string().nullable(),
  answered_at: z.string().nullable(),
});

export const runDecisions = acorOperation({
  name: 'run.decisions',
  summary: 'Show what tools asked and what was decided: who, when, why.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    run: z.string().optional().describe('Only the questions of this run; without it, of all runs.'),
    open: z.boolean().default(false).describe('Only questions that an answer would be taken for now.'),
  }),
  output: z.object({ decisions: z.array(decision) }),
  positionals: ['run'],
  list: 'decisions',
  example: 'acor decisions r-0123456789abcdef',
  moreExamples: ['acor decisions --open'],
  async run(input, ctx) {
    const { store } = await ctx.app.project();
    const decisions: z.output<typeof decision>[] = [];
    for (const runId of input.run === undefined ? await store.list() : [input.run]) {
      const { tool } = await store.read(runId);
      for (const { asked, answered, isOpen, askedBy } of await questionsOf(store, runId)) {
        // Among all runs, a child's question is told once, as the child's.
        if ((input.open && !isOpen) || (input.run === undefined && askedBy !== undefined)) continue;
        decisions.push({
          run_id: runId,
          tool,
          action_id: String(asked.action_id),
          action: String(asked.action),
          audience: asked.audience === 'user' ? 'user' : 'ai',
          context: asked.context ?? {},
          asked_at: String(asked.ts),
          state: isOpen ? 'open' : answered === undefined ? 'unanswered' : 'answered',
          answer: answered?.answer ?? null,
          by: textOrNull(answered?.by),
          source: textOrNull(answered?.source),
          reason: textOrNull(answered?.reason),
          answered_at: textOrNull(answered?.ts),
        });
      }
    }
    return { kind: 'data', data: { decisions } };
  },
  render({ decisions }, screen) {
    const rows = decisions.map(({ run_id, action_id, action, answer, by, reason, asked_at, state }) => ({
      run: run_id,
      asked: agoWords(asked_at),
      question: `${action_id} ${action}`,
      by,
      answer: [state === 'answered' ? cellText(answer, screen) : `(${state})`, reason ?? '']
        .filter((part) => part !== '')
        .join(': '),
    }));
    const none =
      'No tool has asked anything. Runs that wait for an answer are listed by: acor runs --state waiting_ai';
    return tableOf(rows, screen, ['run'], none, (column, text) =>
      column === 'answer' && text === '(open)' ? 'yellow' : undefined,
    );
  },
});

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
