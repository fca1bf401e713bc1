import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import * as z from 'zod';
import type { OperationContext } from '../compose/operation.ts';
import { problemOfAnswer } from '../core/runner/answers/check-answer.ts';
import { answerCommands, readQuestion } from '../core/runner/answers/question.ts';
import { postAnswer } from '../core/storage/answer-box.ts';
import { readEvents } from '../core/storage/follow.ts';
import { isLive } from '../core/storage/lost-runs.ts';
import { questionsOf } from '../core/storage/open-questions.ts';
import { AcorError } from '../protocol/acor-error.ts';
import { isFinal } from '../protocol/run-state.ts';
import { errorMessage } from '../util/error-code.ts';
import { newSpanId } from '../util/ids.ts';
import type { AcorApp } from './acor-app.ts';
import { callerOf } from './caller.ts';
import { acorOperation } from './define.ts';

const input = z.object({
  run: z.string().describe('The id of the run.'),
  action_id: z.string().optional().describe('The question; may be left out when only one is open.'),
  choice: z.string().optional().describe('The id of one of the options.'),
  value: z.string().optional().describe('The answer as JSON.'),
  file: z.string().optional().describe('A file that holds the answer as JSON.'),
  reason: z.string().optional().describe('Why; it is recorded with the answer.'),
  by: z.string().optional().describe('Who answers; left out, the agent or the user that calls.'),
});

type Input = z.output<typeof input>;

export const runAnswer = acorOperation({
  name: 'run.answer',
  summary: 'Answer a question that a running tool has asked; the answer reaches the live process.',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input,
  output: z.object({
    run_id: z.string(),
    action_id: z.string(),
    action: z.string(),
    answer: z.unknown(),
    by: z.string(),
  }),
  positionals: ['run', 'action_id'],
  example: 'acor answer r-0123456789abcdef a-1 --choice strict --reason "no record may be lost"',
  moreExamples: [`acor answer r-0123456789abcdef --value '{"batch_size":50}'`],
  async run(given, ctx) {
    const { store } = await ctx.app.project();
    const record = store.read(given.run);
    const layout = store.layout(given.run);
    if (isFinal(record.state))
      throw refused(given.run, `run ${given.run} is over (${record.state}); nobody waits for an answer`);
    const all = await questionsOf(layout.events);
    const { asked, answered } = chosenQuestion(given, all);
    const question = readQuestion(asked);
    if (answered !== undefined) {
      throw refused(
        given.run,
        `'${question.actionId}' has been answered already, by ${String(answered.by)}: ${JSON.stringify(answered.answer)}`,
      );
    }
    const value = answerGiven(given);
    const problem = await problemOfAnswer(question, value);
    if (problem !== undefined) throw badAnswer(problem, answerCommands(given.run, question), asked);
    const by = given.by ?? callerOf(ctx.env) ?? userName();
    const answerId = newSpanId();
    const reason = given.reason === undefined ? {} : { reason: given.reason };
    postAnswer(layout, { answer_id: answerId, action_id: question.actionId, answer: value, by, ...reason });
    await untilTaken(given.run, answerId, ctx);
    const { actionId, action } = question;
    return {
      kind: 'data',
      data: { run_id: given.run, action_id: actionId, action, answer: value, by },
      next: [`acor wait ${given.run}`],
    };
  },
});

type Questions = Awaited<ReturnType<typeof questionsOf>>;

function chosenQuestion({ run, action_id }: Input, all: Questions): Questions[number] {
  const open = all.filter(({ answered }) => answered === undefined);
  if (action_id !== undefined) {
    const found = all.find(({ asked }) => asked.action_id === action_id || asked.action === action_id);
    if (found !== undefined) return found;
    throw refused(run, `run ${run} has not asked '${action_id}'${listed(open)}`);
  }
  if (open.length === 1) return open[0]!;
  if (open.length === 0) throw refused(run, `run ${run} has no open question`);
  throw refused(run, `run ${run} has more than one open question: say which${listed(open)}`);
}

function listed(open: Questions): string {
  return open.length === 0
    ? ''
    : `; open: ${open.map(({ asked }) => `${asked.action_id} (${asked.action})`).join(', ')}`;
}

function answerGiven({ choice, value, file }: Input): unknown {
  const given = [choice, value, file].filter((each) => each !== undefined).length;
  if (given !== 1) {
    throw new AcorError('E_USAGE', 'an answer is given by one of --choice, --value and --file', {
      hint: "Give --choice ID for one of the options, --value '<JSON>', or --file PATH.",
    });
  }
  if (choice !== undefined) return choice;
  try {
    return JSON.parse(value ?? readFileSync(file!, 'utf8'));
  } catch (error) {
    throw new AcorError(
      'E_USAGE',
      `${file === undefined ? '--value' : file} does not hold JSON: ${errorMessage(error)}`,
      {
        hint: `A text is written with its quotes: --value '"text"'`,
      },
    );
  }
}

/** Waits for the supervisor's word on the answer: it is recorded, or somebody else was quicker. */
async function untilTaken(runId: string, answerId: string, ctx: OperationContext<AcorApp>): Promise<void> {
  const { store } = await ctx.app.project();
  const until = () => !isLive(store.read(runId));
  for await (const event of readEvents(store.layout(runId).events, {
    wait: true,
    signal: ctx.signal,
    isAbandoned: until,
  })) {
    if (event.answer_id !== answerId) continue;
    if (event.type === 'action_answered') return;
    throw refused(runId, String(event.msg));
  }
  throw refused(runId, `run ${runId} ended before it took the answer`);
}

function refused(runId: string, message: string): AcorError {
  return new AcorError('E_BAD_ANSWER', message, {
    hint: `See its questions with: acor decisions ${runId}`,
    next: [`acor decisions ${runId}`],
  });
}

function badAnswer(
  problem: string,
  next: string[],
  { options, schema }: Readonly<Record<string, unknown>>,
): AcorError {
  return new AcorError('E_BAD_ANSWER', problem, {
    hint: 'The question stays open. Give an answer that fits its options or its schema.',
    details: { ...(options !== undefined && { options }), ...(schema !== undefined && { schema }) },
    next,
  });
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown';
  }
}
