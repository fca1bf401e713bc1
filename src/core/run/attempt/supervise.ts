import { dirname } from 'node:path';
import type { Exit } from '../../process/runtime.ts';
import { storageError } from '../../store-files/storage-error.ts';
import type { ToolPlan } from '../plan/tool-plan.ts';
import type { AttemptOptions } from '../run-executor.ts';
import type { AttemptContext } from './attempt-context.ts';
import {
  type DeadlineGuard,
  guardDeadline,
  guardLiveness,
  guardStall,
  STOP_MARGIN_MS,
  stopMs,
} from './guards/clocks.ts';
import type { StopGuard } from './guards/guard.ts';
import type { PreparedAttempt, SpawnedTool } from './spawn-tool.ts';

/** The guards and the question handling of a running tool. */
export interface Supervision extends AsyncDisposable {
  /** Stops the guards at the end of the attempt. */
  stop(): void;
  /** Closes the questions that are still open, unless they stay open for the next turn of a conversation. Throws E_STORAGE. */
  endQuestions(): Promise<void>;
}

/** Starts to read the tool's output, to answer its questions and to enforce its limits. Each may end the attempt through the race. */
export function supervise(
  attempt: AttemptContext,
  prepared: PreparedAttempt,
  tool: SpawnedTool,
): Supervision {
  const { race, options, plan } = attempt;
  const { input, output, resources, watchdog } = prepared;
  const { child, launch, tree, exited } = tool;
  launch.release();
  race.watchExit(() => launch.hasEnded());
  input?.releaseReadEnd();
  watchdog.watchGroup(child.pid, launch);
  output.pump.start(child);
  const { work, artifacts, toolLogs, trace } = plan.workspace;
  resources.start(race, {
    rootPid: child.pid,
    sandboxProcessDepth: launch.sandboxProcessDepth,
    strays: () => tree.orphans(),
    // What an observed tool does is written down as well, and counts as what it wrote.
    folders: [work, artifacts, toolLogs, dirname(trace), ...plan.grants.flatMap(({ from }) => from ?? [])],
    copiedBytes: attempt.copiedBytes,
  });
  const deadline = deadlineOf(attempt, prepared);
  const guards = [deadline.stop, ...silenceGuards(attempt, prepared)];
  beginQuestions(attempt, prepared, deadline);
  void options.cancelled.then((reason) => race.end({ kind: 'cancelled', reason }));
  void exited.then(async ({ exit }) => {
    // The watchdog may have killed it for a cancel of which this process has not heard, because it was stopped or blocked.
    if (exit.signal === 'SIGKILL') await options.control.look().catch(() => undefined);
    race.endAsExit(isWatchdogKill(attempt, exit) ? deadline.ending() : { kind: 'exited', exit });
  });
  const stop = () => {
    for (const stopGuard of guards) stopGuard();
    resources.stop();
  };
  let areQuestionsOpen = options.turn === undefined;
  const endQuestions = async () => {
    if (!areQuestionsOpen) return;
    areQuestionsOpen = false;
    await options.questions.end();
  };
  return {
    stop,
    endQuestions,
    async [Symbol.asyncDispose]() {
      stop();
      await endQuestions().catch(() => undefined);
    },
  };
}

/** Ends the attempt at the deadline. The watchdog holds the deadline, too, for the case that this process does not get to it. */
function deadlineOf(
  { plan, options, race }: AttemptContext,
  { output, watchdog }: PreparedAttempt,
): DeadlineGuard {
  const { timeoutS, waitingStopsDeadline, cancelGraceS } = plan.limits;
  return guardDeadline(race, {
    leftMs: options.leftMs,
    isClockStopped: () => waitingStopsDeadline && options.questions.isClockStopped,
    timeoutS,
    // The watchdog's kill has closed the output, too.
    isOutputClosed: () => output.isStdoutClosed && !isPastLimit(plan, options),
    question: () => options.questions.awaited,
    onMoved: (leftMs) =>
      watchdog.limitTime(leftMs === undefined ? undefined : leftMs + stopMs(cancelGraceS) + STOP_MARGIN_MS),
  });
}

/** Whether the watchdog killed the tool, because this process was blocked at the deadline. */
function isWatchdogKill({ plan, options, intake }: AttemptContext, { signal }: Exit): boolean {
  return signal === 'SIGKILL' && intake.ending === undefined && isPastLimit(plan, options);
}

/** Whether even the runner's own stop at the deadline would be over. */
function isPastLimit({ limits }: ToolPlan, { leftMs }: AttemptOptions): boolean {
  return leftMs() + stopMs(limits.cancelGraceS) <= 0;
}

/** The guards that detect a silent tool, and a tool without progress. */
function silenceGuards(
  { plan: { limits }, options: { questions }, writer, intake, race }: AttemptContext,
  { input, output }: PreparedAttempt,
): StopGuard[] {
  const lastWriteMs = () => (input !== undefined && 'lastWriteMs' in input ? input.lastWriteMs : 0);
  // A tool that waits for an answer or for another tool is not silent; its clock restarts with what it receives.
  const sinceWaiting = (lastMs: () => number) => () =>
    questions.isWaiting || output.isPaused
      ? performance.now()
      : Math.max(questions.lastAnswerMs, lastWriteMs(), lastMs());
  intake.lastEventMs = intake.lastProgressMs = performance.now();
  const liveness = guardLiveness(race, {
    graceS: limits.heartbeatGraceS,
    lastEventMs: sinceWaiting(() => intake.lastEventMs),
  });
  if (limits.stallS === null) return [liveness];
  const stall = guardStall({
    stallS: limits.stallS,
    lastProgressMs: sinceWaiting(() => intake.lastProgressMs),
    onStall: (stalledForS) => {
      writer.log.append({
        type: 'runner_warning',
        msg: `no progress for ${stalledForS.toFixed(1)} s`,
        stalled_for_s: stalledForS,
      });
      void output.store();
    },
  });
  return [liveness, stall];
}

function beginQuestions(
  { plan, options, race, intake }: AttemptContext,
  { input, output }: PreparedAttempt,
  deadline: DeadlineGuard,
): void {
  const { questions, turn } = options;
  const waitedBeforeMs = questions.waitedMs;
  questions.begin({
    deliver(line) {
      turn?.delivered(line);
      input?.write(output.answerOf(line));
    },
    // A wait for an answer has moved the deadline that the tool got at its start.
    answerFields: () =>
      plan.limits.waitingStopsDeadline && questions.waitedMs > waitedBeforeMs
        ? { deadline_ts: options.deadline().toISOString(), attempt: options.number }
        : {},
    onResumed: () => deadline.look(),
    onUnanswered: (actionId, timeoutS) => race.end({ kind: 'unanswered', actionId, timeoutS }),
    onInvalid(actionId, problem) {
      if (intake.ending === undefined) race.end({ kind: 'invalid-question', actionId, problem });
    },
    onFailed: (error) =>
      race.end({
        kind: 'store-failed',
        error: storageError(error, 'keep an answer', plan.workspace.answers),
      }),
  });
}
