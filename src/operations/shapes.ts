import * as z from 'zod';
import { AUDIENCES } from '../protocol/v1/wire.ts';

/** Flags of every command that starts a run. */
export const stream = z
  .boolean()
  .optional()
  .describe(
    'Write events as they come; --no-stream writes one envelope at the end, which is the default for an agent.',
  );

export const ci = z
  .boolean()
  .default(false)
  .describe(
    'Also show the end of the run in a GitHub job: an annotation of a failure, the summary of the step, and its outputs run-id, state and dir.',
  );

/** The flag --timeout of a command that starts a run, in seconds. `what` completes "the deadline of". */
export function timeoutOf(what: string) {
  return z
    .number()
    .positive()
    .meta({ unit: 's' })
    .optional()
    .describe(`Seconds, or 5m, 1h, until the deadline of ${what}.`);
}

/** The flag --retries of a command that starts a run. */
export const retries = z.int().min(0).optional().describe('How often a retryable failure is retried.');

/** The run that an operation is about. `define.ts` replaces `last` by the id. */
export const runId = z.string().describe('The id of the run, or last for the newest one.');

export const answers = z.string().optional().describe('A JSON or YAML file of answers: action to value.');

/** The shapes that several operations return. They are made when they are needed: making a schema takes time at each start. */
export const artifactShape = z.lazy(() =>
  z.object({
    path: z.string(),
    kind: z.enum(['file', 'directory']),
    size: z.int().describe('In bytes.'),
    sha256: z.string(),
    media_type: z.string(),
    files: z.int().optional(),
    run_id: z.string().optional().describe('The step that made it, when that is another run.'),
  }),
);

export const survivorShape = z.lazy(() => z.object({ pid: z.int(), command: z.string() }));

export const runSummary = z.lazy(() =>
  z.object({
    run_id: z.string(),
    tool: z.string(),
    state: z.enum(['completed', 'failed', 'cancelled']),
    code: z.string().nullable(),
    message: z.string().nullable(),
    hint: z.string().nullable(),
    retryable: z.boolean(),
    rc: z.int().nullable(),
    signal: z.string().nullable(),
    attempt: z.int(),
    duration_s: z.number(),
    events: z.int(),
    artifacts: z.array(artifactShape),
    survivors: z.array(survivorShape),
    result: z.record(z.string(), z.unknown()).nullable(),
    questions: z.array(openQuestion).optional().describe('What the tool asked, and has no answer.'),
    next: z.array(z.string()),
    dir: z.string(),
  }),
);

/** The two clocks of a live run: time since its last event, and time of its last progress. Null after its end. */
export const clocks = () => ({
  silent_for_s: z.number().nullable().describe('Seconds since the last event of a live run.'),
  last_progress_at: z.string().nullable().describe('When a live run last reported progress.'),
});

/** A run that was started and continues without the caller. */
export const startedRun = z.lazy(() => z.object({ run_id: z.string(), state: z.string(), dir: z.string() }));

/** How a run ended, as data shows it. */
export type EndedRun = z.output<typeof runSummary>;

export type StartedRun = z.output<typeof startedRun>;

/** A question to which an answer would be accepted now. */
export const openQuestion = z.lazy(() =>
  z.object({
    run_id: z.string().optional().describe('The run to answer, when that is one that this run has started.'),
    action_id: z.string(),
    action: z.string(),
    audience: z.enum(AUDIENCES).describe('Who should answer.'),
    blocking: z.boolean().describe('Whether the run waits for the answer.'),
    msg: z.string().nullable(),
    context: z.record(z.string(), z.unknown()),
    options: z.array(z.record(z.string(), z.unknown())).nullable(),
    schema: z.record(z.string(), z.unknown()).nullable().describe('JSON Schema of the answer.'),
    timeout_s: z.number().optional().describe('Seconds after which the run goes on without an answer.'),
    default: z.unknown().optional().describe('The answer that it then takes; without one it fails.'),
    answer_with: z
      .string()
      .optional()
      .describe('The command that answers, where only the caller knows a valid answer: JSON stands for it.'),
  }),
);

export const shownQuestions = z.lazy(() =>
  z
    .array(openQuestion)
    .describe('The open questions, which accept an answer now; of an ended run, those that have no answer.'),
);

export const lost = z.lazy(() =>
  z
    .literal(true)
    .describe(
      'Its supervisor is gone, and no process has recovered it yet: resume it, or recover it by `health` with `fix`.',
    ),
);

/** A run in a list. */
export const unverifiedShape = z
  .string()
  .describe('Set when the record or the log does not match its seal: what is shown may be forged.');

export const runLine = z.lazy(() =>
  z.object({
    run_id: z.string(),
    tool: z.string(),
    state: z.string(),
    code: z.string().nullable(),
    message: z.string().nullable().describe('Why it failed, in words.'),
    question: z.string().nullable().describe('The action of the question that it waits for.'),
    attempt: z.int(),
    created_at: z.string(),
    duration_s: z.number().nullable(),
    ...clocks(),
    file: z.string().optional().describe('The file of a workflow.'),
    lost: lost.optional(),
    unverified: unverifiedShape.optional(),
  }),
);

export type RunLine = z.output<typeof runLine>;
