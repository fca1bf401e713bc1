import {
  type CallToolResult,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { FailureEnvelope } from '../compose/envelope.ts';
import type { NextStep } from '../compose/next-step.ts';
import { offeredTool } from '../operations/tool/offered-tools.ts';
import { pause } from '../util/pause.ts';
import { askClient, DECLINED } from './ask-client.ts';
import { callLimitMs, saysTimeout } from './call-limit.ts';
import { type CallNotifications, callNotifications } from './call-notifications.ts';
import { answerIn, handIn, requestFor } from './client-answers.ts';
import type { Client } from './client-of.ts';
import type { OpenQuestion } from './elicitation.ts';
import { countLines } from './events-in.ts';
import type { Host, OpenHost } from './host.ts';
import type { LogThreshold } from './log-messages.ts';
import { runResult } from './run-result.ts';
import { blockingQuestions, type CreatedTask, createdTask } from './task.ts';
import { envelopeResult } from './tool-result.ts';

/** The state that goes to a client with questions and comes back with their answers: the run and the questions. */
export interface AskedState {
  run: string;
  tool: string;
  questions: string[];
}

/** A run that a request follows, and how. */
export interface RunCall {
  host: Host;
  open: OpenHost;
  client: Client;
  ctx: ServerContext;
  states: RequestStateCodec<AskedState>;
  /** The name of the called tool. */
  tool: string;
  run: string;
  /** The call only waits for a run that another one started. */
  isWait: boolean;
  /** Stop waiting after this time; the run continues. */
  waitMs?: number | undefined;
  /** It ends soon, so it does not need to become a task. */
  isQuick: boolean;
  /** Whether this client cancels by closing the connection. */
  cancelsByLeaving: boolean;
  /** From which level on this client gets log messages. */
  logThreshold: LogThreshold;
  /** The declared limit of a call, in seconds. */
  callLimitS: number | undefined;
}

export type CallAnswer = CallToolResult | InputRequiredResult | CreatedTask;

/** A run that ends within this time is answered directly, even to a client that accepts tasks. */
const TASK_AFTER_MS = 500;

/** A tool that asks several questions at once writes them one after the other. */
const QUESTIONS_MS = 30;

/**
 * Follows a run until it ends, asks a question that its client cannot answer, becomes a task, or the limit of the call
 * has passed. A cancelled request cancels the run that it started, unless the client only stopped waiting.
 */
export async function followCall(call: RunCall): Promise<CallAnswer> {
  const notifications = callNotifications(call.ctx, call);
  const answer = await untilAnswered(call, notifications.onEvents);
  await notifications.sent();
  return answer;
}

async function untilAnswered(call: RunCall, onLines: CallNotifications['onEvents']): Promise<CallAnswer> {
  const { host, open, client, ctx, run } = call;
  const { signal } = ctx.mcpReq;
  const canBeTask = client.takesTasks && !call.isQuick && call.waitMs === undefined;
  const limitMs = callLimitMs(call);
  const patienceMs = canBeTask ? TASK_AFTER_MS : Math.min(call.waitMs ?? limitMs, limitMs);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  const answered = new Set<string>();
  let since = 0;
  let closedAt = 0;
  for (;;) {
    const watched = await watch(open, run, { since, signal: limit, onLines });
    since = watched.since;
    if (signal.aborted) {
      await cancelIfMeant(call);
      return runResult(host, open, run);
    }
    if (typeof watched.end === 'object') return envelopeResult(open, watched.end);
    if (watched.end === 'ended') return runResult(host, open, run, undefined, { isCompared: call.isWait });
    if (watched.end === 'stopped') return canBeTask ? createdTask(open, run) : runResult(host, open, run);
    if (canAnswer(client)) await pause(QUESTIONS_MS);
    const asked = await blockingQuestions(open, run);
    // The tool has exited, or another caller has answered: the run goes on. A step that waits has its question in another run.
    if (asked.length === 0 && since > closedAt) {
      closedAt = since;
      continue;
    }
    if (await readsNoAnswers(call, asked)) {
      await open.call('run.wait', { run, until: 'ending' }, { signal: limit });
      if (!limit.aborted) continue;
    }
    const questions = asked.filter((question) => requestFor(question, client) !== undefined);
    if (questions.length === 0) return runResult(host, open, run);
    if (canBeTask) return createdTask(open, run);
    if (client.isAskedByResult) {
      const answer = await answerFromClient(call, questions, answered);
      if (answer !== 'answered') return answer;
      continue;
    }
    const reply = await askClient(call, questions, { since, signal: limit, onLines });
    since = reply.since;
    if (signal.aborted) continue;
    if (reply.unanswered !== undefined || limit.aborted) return runResult(host, open, run, reply.unanswered);
  }
}

/**
 * Follows the events of a run until it ends, waits for an answer, or `signal` stops it. Returns an envelope when it
 * cannot be followed.
 */
async function watch(
  open: OpenHost,
  run: string,
  options: {
    since: number;
    signal: AbortSignal;
    onLines: CallNotifications['onEvents'];
  },
): Promise<{ end: 'ended' | 'question' | 'stopped' | FailureEnvelope<NextStep>; since: number }> {
  const { signal, onLines } = options;
  let { since } = options;
  const onEvents = (lines: Uint8Array) => {
    since += countLines(lines);
    onLines?.(lines);
    return 'more' as const;
  };
  const answer = await open.call('run.attach', { run, since }, { signal, onEvents });
  if (!answer.ok && answer.error.code === 'E_ACTION_REQUIRED') return { end: 'question', since };
  if (signal.aborted) return { end: 'stopped', since };
  // The details contain the end of a failed run; without them the run could not be followed at all.
  if (!answer.ok && answer.error.details?.['run_id'] === undefined) return { end: answer, since };
  return { end: 'ended', since };
}

/** A program that writes markers, and gets no answers on its input, is about to exit: its end says that it is blocked. */
async function readsNoAnswers({ open }: RunCall, asked: readonly OpenQuestion[]): Promise<boolean> {
  const tool = asked.some(({ action }) => action === 'blocked') ? asked[0]!.tool : undefined;
  const offered = tool === undefined ? undefined : await offeredTool(open.app, tool).catch(() => undefined);
  return offered?.adapter === 'markers' && offered.manifest.actions.length === 0;
}

function canAnswer({ elicits, samples, hasRoots }: Client): boolean {
  return elicits || samples || hasRoots;
}

/** Submits the answers in the request of a client since 2026-07-28. Missing answers and invalid ones of a user are asked for; a refusal ends the call. */
async function answerFromClient(
  { host, open, client, ctx, states, tool, run }: RunCall,
  questions: readonly OpenQuestion[],
  answered: Set<string>,
): Promise<CallAnswer | 'answered'> {
  const requests: InputRequests = {};
  for (const question of questions) {
    const { action_id: id, audience } = question;
    // An answer is only valid for the question that was asked, not for a later one of the same name.
    const given = answered.has(id)
      ? undefined
      : answerIn(question, inputResponse(ctx.mcpReq.inputResponses, id));
    answered.add(id);
    if (given === 'declined') return runResult(host, open, run, DECLINED);
    const problem = given === undefined ? undefined : await handIn(open, run, question, given);
    if (given !== undefined && problem === undefined) continue;
    // A model that did not answer once would not do so the next time.
    if (problem !== undefined && audience !== 'user') return runResult(host, open, run, problem);
    requests[id] = requestFor(question, client, problem)!;
  }
  if (Object.keys(requests).length === 0) return 'answered';
  return inputRequired({
    inputRequests: requests,
    requestState: await states.mint({ run, tool, questions: Object.keys(requests) }, ctx),
  });
}

/**
 * Only a client that cancels the call that started the run cancels the run. A closed connection, a client whose own
 * timeout has passed, and the end of a wait leave it alone.
 */
async function cancelIfMeant({ open, ctx, run, isWait, cancelsByLeaving }: RunCall): Promise<void> {
  const { reason } = ctx.mcpReq.signal;
  const isGone = (reason as { code?: unknown } | undefined)?.code === 'CONNECTION_CLOSED';
  if (isGone && !cancelsByLeaving) return;
  const why = typeof reason === 'string' && reason !== '' ? reason : 'cancelled by the MCP client';
  if (isWait || saysTimeout(why)) return;
  await open.call('run.cancel', { run, reason: why }, { signal: new AbortController().signal });
}
