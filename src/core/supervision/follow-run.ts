import type { NextStep } from '../../protocol/next-steps.ts';
import { isOrchestration } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { RunStore } from '../ports/run-store.ts';
import { type AskedQuestion, questionsOf } from '../run/answers/open-questions.ts';
import { readQuestion, validAnswerSteps } from '../run/answers/question.ts';
import { followToEnd } from '../run/follow-to-end.ts';
import type { Workspaces } from '../run/workspace.ts';
import { countLines } from '../store-files/follow.ts';

/** Why following stopped: the run ended, it waits for an answer, or the reader or the signal stopped it. */
export type FollowEnd = 'ended' | 'question' | 'stopped';

/** The outcome of asking the user: no question blocks the run any more, or the user left one open. */
export type DialogEnd = 'settled' | 'left';

const STATE_MARK = Buffer.from('"type":"runner_state"');

/**
 * Yields the events of any run as whole lines, from any `seq`, until the run ends or waits for an answer. `ask` asks
 * the user the blocking questions; after the answers, following continues. `recorded` settles when the end of the run is in the store.
 */
export async function* followRun(
  store: RunStore,
  runId: string,
  {
    since,
    signal,
    recorded,
    atQuestions,
    ask,
    checkReader,
    recoversIn,
  }: {
    since: number;
    signal?: AbortSignal | undefined;
    recorded?: Promise<unknown> | undefined;
    atQuestions: boolean;
    ask?: (() => Promise<DialogEnd>) | undefined;
    checkReader?: (() => Promise<void>) | undefined;
    recoversIn?: Workspaces | undefined;
  },
): AsyncGenerator<Uint8Array, FollowEnd> {
  for (let seen = since; ; ) {
    let state = seen > 0 ? await stateAt(store, runId, seen) : undefined;
    let isOver = false;
    let hasQuestion = false;
    // An answer comes before the change of state that it causes; for a question of a child, in the log of another run.
    const isEnough = async () => {
      hasQuestion = atQuestions && state === 'waiting_ai' && (await isAsking(store, runId));
      return hasQuestion;
    };
    const options = { since: seen, signal, recorded, isEnough, checkReader, recoversIn };
    for await (const lines of followToEnd(store, runId, options)) {
      if (ask !== undefined) seen += countLines(lines);
      state = stateAfter(lines) ?? state;
      isOver = state !== undefined && state !== 'running' && state !== 'waiting_ai' && state !== 'queued';
      yield lines;
    }
    if (isOver) return 'ended';
    if (!hasQuestion) return signal?.aborted ? 'stopped' : 'ended';
    if (ask === undefined) return 'question';
    if ((await ask()) === 'left') return signal?.aborted ? 'stopped' : 'question';
  }
}

/** The state that the events up to a `seq` leave a run in; undefined for a run that has asked nothing by then. */
async function stateAt(store: RunStore, runId: string, seq: number): Promise<string | undefined> {
  const events = await store.questionEvents(runId);
  const change = events.findLast((event) => event.type === 'runner_state' && Number(event.seq) <= seq);
  return change === undefined ? undefined : String(change.to);
}

async function isAsking(store: RunStore, runId: string): Promise<boolean> {
  return (await blockingQuestionsOf(store, runId)).length > 0;
}

/** The open blocking questions, in the order in which they were asked. */
export async function blockingQuestionsOf(store: RunStore, runId: string): Promise<AskedQuestion[]> {
  const questions = await questionsOf(store, runId);
  return questions.filter(({ asked, isOpen }) => isOpen && asked.blocking === true);
}

/** The next steps that answer the blocking questions. */
export async function stepsForOpenQuestions(store: RunStore, runId: string): Promise<NextStep[]> {
  const questions = await blockingQuestionsOf(store, runId);
  const steps = questions.map(({ asked }) => validAnswerSteps(runId, readQuestion(asked)));
  return (await Promise.all(steps)).flat();
}

/** The runs that wait for an answer below a tool that started them. Workflows and pipes have the questions of their steps in their own log. */
export async function waitingBelow(store: RunStore, runId: string): Promise<RunRecord[]> {
  const live = new Map<string, RunRecord>();
  for (const { runId: id } of await store.leases.list()) {
    const record = await store.read(id).catch(() => undefined);
    if (record !== undefined) live.set(id, record);
  }
  const isBelow = ({ parent }: RunRecord): boolean => {
    const above = parent === null ? undefined : live.get(parent.run_id);
    if (parent === null || (above !== undefined && isOrchestration(above.kind))) return false;
    return parent.run_id === runId || (above !== undefined && isBelow(above));
  };
  return [...live.values()].filter((record) => record.state === 'waiting_ai' && isBelow(record));
}

/** The state of the run after a batch of lines, if they change it. */
export function stateAfter(lines: Uint8Array): string | undefined {
  const buffer = Buffer.from(lines.buffer, lines.byteOffset, lines.length);
  for (
    let at = buffer.lastIndexOf(STATE_MARK);
    at !== -1;
    at = at === 0 ? -1 : buffer.lastIndexOf(STATE_MARK, at - 1)
  ) {
    const start = buffer.lastIndexOf(10, at) + 1;
    const event = JSON.parse(buffer.toString('utf8', start, buffer.indexOf(10, at)));
    // These words may also appear inside a wrapped event.
    if (event.type === 'runner_state') return String(event.to);
  }
  return undefined;
}
