import { pause } from '../../../util/pause.ts';
import type { ProcessTree, Survivor } from '../../process/kill-tree.ts';
import type { Exit } from '../../process/runtime.ts';
import type { ObservedAttempt } from '../outcome.ts';
import { putCancelFile } from '../workspace.ts';
import type { AttemptContext } from './attempt-context.ts';
import { type Ending, hasEndedItself } from './ending.ts';
import { after } from './guards/guard.ts';
import type { PreparedAttempt, SpawnedTool } from './spawn-tool.ts';
import type { Supervision } from './supervise.ts';

const POLL_MS = 5;
/** Processes that are just exiting get this long before they count as left behind. */
const SETTLE_MS = 60;
const LEFTOVER_GRACE_MS = 1000;
/** How long a killed process gets to end. */
const UNKILLABLE_MS = 5000;

/** Ends an attempt: stops the tool and all processes that it started, reads the rest of its output, and returns what was observed. */
export async function windDown(
  attempt: AttemptContext,
  { output, resources, watchdog }: PreparedAttempt,
  tool: SpawnedTool,
  supervision: Supervision,
): Promise<ObservedAttempt> {
  const { plan, intake, race } = attempt;
  supervision.stop();
  const first = race.winner!;
  if (first.kind !== 'exited') await stopTool(attempt, tool, first);
  const { exit: observed, left: leftInside, isEmpty, failure } = await endOf(tool);
  const { left: leftOutside, survivors } = isEmpty ? NONE_LEFT : await endLeftovers(tool.tree);
  tool.markGone();
  if (survivors.length === 0) watchdog.forgetGroup();
  await supervision.endQuestions();
  // Of a tool that was stopped before its sandbox was up, only the sandbox has ended.
  if (failure !== undefined && first.kind === 'exited') throw failure;
  const exit = failure === undefined ? observed : NO_EXIT;
  await output.finish(first.kind === 'exited' ? exit.rc : null);
  const left = leftInside + leftOutside;
  if (left > 0)
    intake.warnOnce(
      'left',
      undefined,
      `the tool exited and left ${left} process(es) running; the runner stopped them`,
    );
  // A tool that exited has not completed when the runner could not store its last output.
  const ending: Ending =
    hasEndedItself(first) && output.failure !== undefined
      ? { kind: 'store-failed', error: output.failure }
      : first;
  return {
    ending: await resources.judge(ending, {
      message: intake.ending,
      exitCodes: plan.tool.manifest.exit_codes,
      stderrLog: plan.workspace.stderrLog,
    }),
    exit: resources.measured(exit),
    message: intake.ending,
    protocolProblem: intake.problem,
    survivors,
    files: output.files,
  };
}

const NO_EXIT: Exit = { rc: null, signal: null, usage: { cpu_s: null, max_rss_bytes: null } };
const NONE_LEFT = { left: 0, survivors: [] };

/** Stops the processes that a tool left running when it exited. Returns their number, and those that could not be killed. */
export async function endLeftovers(tree: ProcessTree): Promise<{ left: number; survivors: Survivor[] }> {
  if (await diesOut(tree, SETTLE_MS)) return { left: 0, survivors: [] };
  const left = tree.members().length;
  tree.signal('SIGTERM');
  if (await diesOut(tree, LEFTOVER_GRACE_MS)) return { left, survivors: [] };
  return { left, survivors: await tree.kill() };
}

/**
 * Stops the tool step by step (contract §3): cancel file with the reason, grace period, SIGTERM to the whole tree, grace period, SIGKILL
 * to the whole tree. A program that cannot know of the cancel file gets SIGTERM at once. A forced cancel ends each grace period at once.
 */
async function stopTool(
  attempt: AttemptContext,
  { tree, exited }: SpawnedTool,
  ending: Ending,
): Promise<void> {
  const { plan, options } = attempt;
  // A tool over a limit would use even more during a grace period.
  const graceMs = isWithoutGrace(ending) ? 0 : plan.limits.cancelGraceS * 1000;
  putCancelFile(plan.workspace, reasonOf(ending));
  if (knowsCancelFile(attempt) && (await endsWithin(exited, graceMs, options.forceCancel))) return;
  tree.signal('SIGTERM');
  if (await endsWithin(exited, graceMs, options.forceCancel)) return;
  await tree.kill();
}

/** The end of a tool that has ended or was killed. A process that the kernel cannot end, for example in a hung file system, is left behind. */
async function endOf({ exited }: SpawnedTool): Promise<Awaited<SpawnedTool['exited']>> {
  const isOver = await endsWithin(exited, UNKILLABLE_MS);
  return isOver ? exited : { exit: NO_EXIT, left: 0 };
}

async function diesOut(tree: ProcessTree, ms: number): Promise<boolean> {
  const until = performance.now() + ms;
  for (;;) {
    if (tree.members().length === 0) return true;
    if (performance.now() > until) return false;
    await pause(POLL_MS);
  }
}

async function endsWithin(
  exited: Promise<unknown>,
  ms: number,
  forceCancel?: Promise<unknown>,
): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const stopTimer = after(ms, () => resolve(false));
  void forceCancel?.then(() => resolve(false));
  void exited.then(() => resolve(true), reject);
  try {
    return await promise;
  } finally {
    stopTimer();
  }
}

/** Whether the tool writes the protocol: its manifest says so, or its messages do. */
function knowsCancelFile({ plan: { tool }, intake }: AttemptContext): boolean {
  if (tool.adapter !== 'jsonl') return false;
  return tool.manifestPath !== null || tool.hasHeader === true || intake.hasMessages;
}

function isWithoutGrace({ kind }: Ending): boolean {
  return kind === 'store-failed' || kind === 'over-limit';
}

/** The reason that is written to the tool's cancel file. */
function reasonOf(ending: Ending): string {
  switch (ending.kind) {
    case 'cancelled':
      return ending.reason;
    case 'silent':
      return 'heartbeat-missed';
    case 'unanswered':
      return 'no-answer';
    case 'over-limit':
      return ending.limit;
    default:
      return ending.kind;
  }
}
