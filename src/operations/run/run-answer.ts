import { resolve } from 'node:path';
import * as z from 'zod';
import { checkAnswer, findOpenQuestion, submitAnswer } from '../../core/run/answers/submit-answer.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { type NextStep, waitFor } from '../../protocol/next-steps.ts';
import { cutValue } from '../../util/cut-text.ts';
import { errorMessage } from '../../util/error-code.ts';
import { readRegular } from '../../util/regular-file.ts';
import { acorOperation } from '../define.ts';
import { requirePersonFor } from '../needs-person.ts';
import { runId } from '../shapes.ts';
import { authorOf } from './author-of-answer.ts';
import { exactAnswer } from './exact-answer.ts';

const input = z.object({
  run: runId,
  action_id: z.string().optional().describe('The question; optional when only one is open.'),
  choice: z.string().optional().describe('The id of one of the options.'),
  value: z.string().optional().describe('The answer as JSON.'),
  file: z.string().optional().describe('A file that holds the answer as JSON.'),
  reason: z.string().optional().describe('The reason; it is recorded with the answer.'),
  by: z
    .string()
    .optional()
    .describe(
      'Who answers; by default the agent or the user that calls. An agent, or a client of a server, answers for them, and is recorded too.',
    ),
  dry_run: z.boolean().default(false).describe('Check the answer, and do not give it.'),
});

type Input = z.output<typeof input>;

export const runAnswer = acorOperation({
  name: 'run.answer',
  summary: 'Answer a question of a running tool; the answer reaches the live process.',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input,
  output: z.object({
    run_id: z.string(),
    action_id: z.string(),
    action: z.string(),
    answer: z.unknown().describe('The answer; a long one is the beginning of its JSON.'),
    by: z.string(),
    dry_run: z.boolean(),
  }),
  positionals: ['run', 'action_id'],
  example: 'acor answer r-0123456789abcdef a-1 --choice strict --reason "no record may be lost"',
  moreExamples: [`acor answer r-0123456789abcdef --value '{"batch_size":50}'`],
  async run(given, ctx) {
    const { run, action_id: actionId, reason } = given;
    const { store, config } = await ctx.app.project();
    // Check the run id before the answer.
    await store.read(run);
    const value = answerGiven(given, ctx.cwd);
    const { principal, surface: source } = ctx.app;
    const by = authorOf(ctx.app, given.by);
    const question = await findOpenQuestion(store, run, actionId);
    if (!given.dry_run)
      await requirePersonFor(question, run, {
        person: ctx.person,
        principal,
        root: config.root,
        env: ctx.env,
      });
    if (given.dry_run) await checkAnswer(run, question, value);
    else await submitAnswer(store, run, question, { value, by, source, reason }, ctx.signal);
    const { actionId: action_id, action } = question;
    return {
      kind: 'data',
      data: { run_id: run, action_id, action, answer: cutValue(value), by, dry_run: given.dry_run },
      next: [given.dry_run ? answerRun({ ...given, action_id }) : waitFor(run)],
    };
  },
});

/** The step that gives the checked answer. */
function answerRun({ dry_run: _, ...input }: Input): NextStep {
  return { operation: 'run.answer', input, why: 'Give this answer.' };
}

function answerGiven({ choice, value, file }: Input, cwd: string): unknown {
  const given = [choice, value, file].filter((each) => each !== undefined).length;
  if (given !== 1) {
    throw new AcorError('E_USAGE', 'expected exactly one of --choice, --value and --file', {
      hint: "Use --choice ID for one of the options, --value '<JSON>', or --file PATH.",
    });
  }
  if (choice !== undefined) return choice;
  const text = value ?? textOf(resolve(cwd, file!));
  const source = file === undefined ? '--value' : file;
  try {
    return exactAnswer(JSON.parse(text), text, source);
  } catch (error) {
    if (error instanceof AcorError) throw error;
    throw new AcorError('E_USAGE', `${source} is not valid JSON: ${errorMessage(error)}`, {
      hint: `Write a text with its quotes: --value '"text"'`,
    });
  }
}

function textOf(path: string): string {
  try {
    return readRegular(path).toString();
  } catch (error) {
    throw new AcorError('E_USAGE', `cannot read --file: ${errorMessage(error)}`, {
      hint: 'Pass the path of a file with the answer as JSON.',
    });
  }
}
