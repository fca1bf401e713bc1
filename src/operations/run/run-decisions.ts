import * as z from 'zod';
import type { IndexedQuestion } from '../../core/ports/run-index.ts';
import { questionsOf } from '../../core/run/answers/open-questions.ts';
import { readQuestion } from '../../core/run/answers/question.ts';
import { summariseLog } from '../../core/run/read-log.ts';
import { waitingBelow } from '../../core/supervision/follow-run.ts';
import { AUDIENCES, audienceOf } from '../../protocol/v1/wire.ts';
import { acorOperation } from '../define.ts';
import { warningsOf } from './missing-words.ts';

/** What an answer must fit, and what happens without one. */
const question = z.object({
  msg: z.string().nullable(),
  blocking: z.boolean().describe('Whether the run waits for the answer.'),
  options: z.array(z.record(z.string(), z.unknown())).nullable(),
  schema: z.record(z.string(), z.unknown()).nullable().describe('JSON Schema of the answer.'),
  default: z.unknown().optional().describe('The answer that is used when none is given in time.'),
  expires_at: z
    .string()
    .nullable()
    .describe('Until when an answer is taken; null: as long as the run lives.'),
});

const decision = z.object({
  run_id: z.string(),
  tool: z.string(),
  action_id: z.string(),
  action: z.string(),
  audience: z.enum(AUDIENCES),
  context: z.unknown(),
  asked_at: z.string(),
  state: z.enum(['answered', 'open', 'unanswered']).describe('Unanswered: the attempt that asked has ended.'),
  answer: z.unknown(),
  by: z.string().nullable(),
  source: z.string().nullable(),
  reason: z.string().nullable(),
  answered_at: z.string().nullable(),
  question: question.optional().describe('Of an open question.'),
});

type Decision = z.output<typeof decision>;

export const runDecisions = acorOperation({
  name: 'run.decisions',
  summary: 'Show the questions of tools and their answers: who decided, when, why.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    run: z.string().optional().describe('Only the questions of this run; by default of all runs.'),
    open: z.boolean().default(false).describe('Only questions that accept an answer now.'),
  }),
  output: z.object({
    decisions: z.array(decision),
    cancelled: z
      .object({ by: z.string(), reason: z.string().nullable(), at: z.string() })
      .optional()
      .describe('Of one run: who cancelled it, why, when.'),
  }),
  positionals: ['run'],
  list: 'decisions',
  example: 'acor decisions r-0123456789abcdef',
  moreExamples: ['acor decisions --open'],
  async run(input, ctx) {
    const project = await ctx.app.project();
    if (input.run !== undefined) {
      const { tool } = await project.store.read(input.run);
      const questions = await questionsOf(project.store, input.run);
      const own = questions.map((question) => decisionOf(input.run!, tool, question));
      const below = await waitingBelow(project.store, input.run);
      const asked = await Promise.all(
        below.map(async (child) =>
          (await questionsOf(project.store, child.run_id)).map((question) =>
            decisionOf(child.run_id, child.tool, question),
          ),
        ),
      );
      const { end } = await summariseLog(project.store, input.run);
      return answer([...own, ...asked.flat()], { cancelled: cancelIn(end) });
    }
    const index = await project.index();
    const [runs, warnings] = await Promise.all([
      index.questions({ isOpen: input.open }),
      warningsOf(index, project.store),
    ]);
    // The log of a parent run repeats the questions of its children: list each one once, with the child.
    return answer(
      runs.flatMap(({ run, questions }) =>
        questions
          .filter(({ askedBy }) => askedBy === undefined)
          .map((question) => decisionOf(run.run_id, run.tool, question)),
      ),
      { warnings },
    );

    function answer(
      decisions: Decision[],
      { cancelled, warnings = [] }: { cancelled?: ReturnType<typeof cancelIn>; warnings?: string[] },
    ) {
      const shown = input.open ? decisions.filter(({ state }) => state === 'open') : decisions;
      return { kind: 'data' as const, data: { decisions: shown, ...(cancelled && { cancelled }) }, warnings };
    }
  },
});

function cancelIn(end: Readonly<Record<string, unknown>> | undefined) {
  if (typeof end?.['cancelled_by'] !== 'string') return undefined;
  return { by: end['cancelled_by'], reason: textOrNull(end['message']), at: String(end['ts']) };
}

function decisionOf(runId: string, tool: string, { asked, answered, isOpen }: IndexedQuestion): Decision {
  return {
    run_id: runId,
    tool,
    action_id: String(asked.action_id),
    action: String(asked.action),
    audience: audienceOf(asked.audience),
    context: asked.context ?? {},
    asked_at: String(asked.ts),
    state: isOpen ? 'open' : answered === undefined ? 'unanswered' : 'answered',
    answer: answered?.answer ?? null,
    by: textOrNull(answered?.by),
    source: textOrNull(answered?.source),
    reason: textOrNull(answered?.reason),
    answered_at: textOrNull(answered?.ts),
    ...(isOpen && { question: questionIn(asked) }),
  };
}

function questionIn(asked: IndexedQuestion['asked']): z.output<typeof question> {
  const { msg, blocking, options, schema, default: fallback, timeoutS } = readQuestion(asked);
  const askedMs = Date.parse(String(asked.ts));
  return {
    msg: msg ?? null,
    blocking,
    options: options?.map((option) => ({ ...option })) ?? null,
    schema: schema === undefined ? null : { ...schema },
    ...(fallback !== undefined && { default: fallback.value }),
    expires_at: timeoutS === undefined ? null : new Date(askedMs + timeoutS * 1000).toISOString(),
  };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
