import type { NotifyEvent } from '../../protocol/notify-config.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { RunnerEnd } from '../../protocol/v1/runner-events.ts';
import { newSha256 } from '../../util/sha256.ts';
import type { ReadEvent, RunStore } from '../ports/run-store.ts';
import { questionsOf } from '../run/answers/open-questions.ts';
import { readQuestion, validAnswerSteps } from '../run/answers/question.ts';
import { endInLog, livenessOf } from '../run/read-run.ts';
import type { Message } from './message.ts';
import type { KnownReceiver, OutboxEvent } from './receivers.ts';

const MAX_TEXT_CHARS = 2000;

/** What a run has to say, derived from its log. */
export interface RunMessages {
  /** The questions that are open, for receivers of `question`. */
  questions: readonly { askedMs: number; message: Message }[];
  /** The end and the budget, each with what receivers call it. */
  others: readonly { events: readonly OutboxEvent[]; message: Message }[];
  /** No more messages will come. */
  hasEnded: boolean;
  /** The end is in the log, and its supervisor has not written the record yet. */
  isEnding: boolean;
}

/** Reads what a run has to say after an event. Throws E_RUN_NOT_FOUND. */
export async function messagesOf(
  store: RunStore,
  runId: string,
  { since, project }: { since: number; project: string },
): Promise<RunMessages> {
  const { record, liveness } = await livenessOf(store, runId);
  const about = { project, run_id: runId, tool: record.tool };
  const isNew = ({ seq }: Readonly<Record<string, unknown>>) => Number(seq) > since;
  const last = await endInLog(store, runId);
  const end = last !== undefined && isNew(last) ? last : undefined;
  const hasEnded = end !== undefined && liveness !== 'live';
  const ending = { hasEnded, isEnding: end !== undefined && liveness === 'live' };
  if (record.parent !== null)
    return {
      questions: [],
      others: end === undefined || !hasEnded ? [] : [traceMessage(about, end)],
      ...ending,
    };
  const questions = hasEnded ? [] : await questionsOf(store, runId);
  return {
    questions: await Promise.all(
      questions
        .filter(({ isOpen }) => isOpen)
        .map(async ({ asked }) => ({
          askedMs: Date.parse(String(asked.ts)),
          message: await questionMessage(store, about, asked),
        })),
    ),
    others: [
      ...(await budgetMessages(store, about, isNew)),
      ...(hasEnded
        ? [{ events: eventsOf(end), message: endMessage(about, record, end) }, traceMessage(about, end)]
        : []),
    ],
    ...ending,
  };
}

/** The message of a question as a receiver gets it now, and when it gets the next one; null for no further one. */
export function questionFor(
  { after_s = 0, remind_every_s }: Pick<KnownReceiver, 'after_s' | 'remind_every_s'>,
  { askedMs, message }: { askedMs: number; message: Message },
  nowMs: number,
): { message: Message | null; nextMs: number | null } {
  const firstMs = askedMs + after_s * 1000;
  if (nowMs < firstMs) return { message: null, nextMs: firstMs };
  if (remind_every_s === undefined) return { message, nextMs: null };
  const everyMs = remind_every_s * 1000;
  const reminder = Math.floor((nowMs - firstMs) / everyMs);
  const nextMs = firstMs + (reminder + 1) * everyMs;
  if (reminder === 0) return { message, nextMs };
  return {
    message: { ...message, id: `${message.id}_${reminder}`, data: { ...message.data, reminder } },
    nextMs,
  };
}

type About = { project: string; run_id: string; tool: string };

async function questionMessage(store: RunStore, about: About, asked: ReadEvent): Promise<Message> {
  const question = readQuestion(asked);
  const { actionId, action, msg, audience, options, blocking, timeoutS } = question;
  const at = String(asked.ts);
  const deadline = timeoutS === undefined ? null : new Date(Date.parse(at) + timeoutS * 1000).toISOString();
  // A tool chooses the id of its question, and an attempt may ask it again.
  const digest = newSha256().update(`${actionId}\0${asked.seq}`).digest('hex').slice(0, 16);
  return {
    id: `${about.run_id}_question_${digest}`,
    type: 'run.question',
    timestamp: at,
    data: {
      ...about,
      action_id: actionId,
      action,
      ...(msg !== undefined && { msg: msg.slice(0, MAX_TEXT_CHARS) }),
      audience,
      blocking,
      ...(options !== undefined && { options }),
      ...(question.default !== undefined && { default: question.default.value }),
      deadline,
      next: (await validAnswerSteps(about.run_id, question)).map(store.commandOf),
    },
  };
}

function eventsOf({ state, code }: RunnerEnd): NotifyEvent[] {
  return [
    'end',
    ...(state === 'failed' ? (['failure'] as const) : []),
    ...(code === 'E_BUDGET' ? (['budget'] as const) : []),
  ];
}

/** The spans are made of the log when they are sent. */
function traceMessage(about: About, { seq, ts }: RunnerEnd): RunMessages['others'][number] {
  const id = `${about.run_id}_trace_${seq}`;
  return { events: ['trace'], message: { id, type: 'trace', timestamp: ts, data: about } };
}

function endMessage(about: About, { message, cost_usd }: RunRecord, end: RunnerEnd): Message {
  return {
    id: `${about.run_id}_ended_${end.seq}`,
    type: 'run.ended',
    timestamp: end.ts,
    data: {
      ...about,
      state: end.state,
      code: end.code,
      message: message?.slice(0, MAX_TEXT_CHARS) ?? null,
      duration_s: end.duration_s,
      cost_usd,
      next: end.next ?? [],
    },
  };
}

async function budgetMessages(
  store: RunStore,
  about: About,
  isNew: (event: ReadEvent) => boolean,
): Promise<RunMessages['others'][number][]> {
  const found: RunMessages['others'][number][] = [];
  for await (const event of store.tail(about.run_id, ['runner_warning'])) {
    if (event.code !== 'E_BUDGET' || !isNew(event)) continue;
    const message: Message = {
      id: `${about.run_id}_budget_${event.seq}`,
      type: 'run.budget',
      timestamp: String(event.ts),
      data: { ...about, msg: String(event.msg).slice(0, MAX_TEXT_CHARS) },
    };
    found.unshift({ events: ['budget'], message });
  }
  return found;
}
