import { inputResponse, type ServerContext } from '@modelcontextprotocol/server';
import type { CallNotifications } from './call-notifications.ts';
import { answerIn, handIn, requestFor } from './client-answers.ts';
import type { Client } from './client-of.ts';
import type { OpenQuestion } from './elicitation.ts';
import { countLines, eventsIn } from './events-in.ts';
import type { OpenHost } from './host.ts';
import { blockingQuestions } from './task.ts';

/** After as many invalid answers of a user the agent gets the question: a program may fill the form. */
const MAX_TRIES = 5;
/** The signal ends a request, not a timeout of its own: the longest delay of a timer. */
const NO_TIMEOUT_MS = 2_147_483_647;

/** What to do when the user did not answer. */
export const DECLINED =
  'The user did not answer the question. The run still waits: ask the user, then call acor_answer, or acor_cancel.';

/** The run that asks, and the call whose client it asks. */
interface Asking {
  open: OpenHost;
  client: Client;
  ctx: ServerContext;
  run: string;
}

/** Why a client did not answer a question; undefined when it is answered, or no longer open. */
type Unanswered = string | undefined;

/**
 * Puts questions to a client of before 2026-07-28, by requests. A request is withdrawn when its question is answered
 * elsewhere, when the run ends, and at `signal`. Returns why a question is still open, and the seq of the last event.
 */
export async function askClient(
  call: Asking,
  questions: readonly OpenQuestion[],
  options: { since: number; signal: AbortSignal; onLines: CallNotifications['onEvents'] },
): Promise<{ unanswered: Unanswered; since: number }> {
  const requests = new Map(questions.map(({ action_id }) => [action_id, new AbortController()]));
  const done = new AbortController();
  const following = withdrawSettled(call, requests, {
    ...options,
    signal: AbortSignal.any([options.signal, done.signal]),
  });
  const ends = await Promise.all(
    questions.map((question) => {
      const request = requests.get(question.action_id)!;
      return ask(call, question, AbortSignal.any([options.signal, request.signal]));
    }),
  );
  done.abort();
  return { unanswered: ends.find((each) => each !== undefined), since: await following };
}

/** Asks until the answer is valid. */
async function ask(call: Asking, question: OpenQuestion, signal: AbortSignal): Promise<Unanswered> {
  const { open, client, ctx, run } = call;
  const { action_id: id, audience } = question;
  let problem: string | undefined;
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const request = requestFor(question, client, problem)!;
    const response = await ctx.mcpReq
      .send(request as never, { signal, timeout: NO_TIMEOUT_MS })
      .catch((error: Error) => error);
    if (signal.aborted) return undefined;
    if (response instanceof Error) return `${question.tool} could not ask by the client: ${response.message}`;
    const given = answerIn(question, inputResponse({ [id]: response }, id));
    if (given === undefined) return `the client did not answer the question of ${question.tool}`;
    if (given === 'declined') return DECLINED;
    problem = await handIn(open, run, question, given);
    // It may be answered elsewhere meanwhile.
    if (problem === undefined || !(await openIds(call)).includes(id)) return undefined;
    if (audience !== 'user') return problem;
  }
  return problem;
}

/** Withdraws the requests whose questions are settled, until the run ends; then all of them. */
async function withdrawSettled(
  call: Asking,
  requests: ReadonlyMap<string, AbortController>,
  { signal, onLines, ...options }: Parameters<typeof askClient>[2],
): Promise<number> {
  let { since } = options;
  const onEvents = async (lines: Uint8Array) => {
    since += countLines(lines);
    onLines?.(lines);
    if (eventsIn(lines, ['action_answered', 'runner_state']).length === 0) return 'more';
    const open = await openIds(call);
    for (const [id, request] of requests) if (!open.includes(id)) request.abort('the question is settled');
    return 'more' as const;
  };
  const input = { run: call.run, follow: true, since };
  const followed = await call.open.call('run.logs', input, { signal, onEvents });
  if (followed.ok) for (const request of requests.values()) request.abort('the run has ended');
  return since;
}

async function openIds({ open, run }: Asking): Promise<string[]> {
  return (await blockingQuestions(open, run)).map(({ action_id }) => action_id);
}
