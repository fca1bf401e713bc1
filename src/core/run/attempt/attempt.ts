import { endStartTurn } from '../../../util/start-turn.ts';
import type { NewEvent, RunWriter } from '../../ports/run-store.ts';
import type { Watchdog } from '../../process/watchdog.ts';
import { answeredIds } from '../answers/answer-files.ts';
import { readsAnswers } from '../may-ask.ts';
import type { ObservedAttempt } from '../outcome.ts';
import type { ToolPlan } from '../plan/tool-plan.ts';
import type { AttemptOptions } from '../run-executor.ts';
import type { RunnerServices } from '../services.ts';
import { mayCallTools } from '../workspace.ts';
import type { AttemptContext } from './attempt-context.ts';
import { EndingRace, hasEndedItself } from './ending.ts';
import { Intake } from './intake.ts';
import { ResourceWatch } from './resources/resource-watch.ts';
import type { RunOwnership } from './run-user-ownership.ts';
import { spawnTool, type ToolInput } from './spawn-tool.ts';
import { supervise } from './supervise.ts';
import { ToolOutput } from './tool-output.ts';
import { windDown } from './wind-down.ts';

/** More blocking questions of one attempt are not looked at. */
const MAX_ASKED = 100;

/**
 * Starts the tool once and supervises it to its end. Even when a step throws, no process of the tool is alive afterwards, and every
 * acquired resource is released, in reverse order. The caller ends the watchdog, which starts before the tool.
 */
export async function runAttempt(
  services: RunnerServices,
  plan: ToolPlan,
  writer: RunWriter,
  options: AttemptOptions,
  more: Pick<AttemptContext, 'meter' | 'copiedBytes' | 'permissionQuestions' | 'standby'>,
  startWatchdog: () => Watchdog,
): Promise<ObservedAttempt> {
  const asked: NewEvent[] = [];
  const race = new EndingRace();
  const attempt: AttemptContext = {
    services,
    plan,
    writer,
    options,
    ...more,
    adapter: await services.loadAdapter(plan.tool.adapter),
    race,
    intake: new Intake(writer.log, {
      runId: plan.runId,
      mayEmitTasks: plan.tool.manifest.role === 'orchestrator',
      joinsLines: !plan.isRead,
      onQuestion(event) {
        if (event.blocking === true && asked.length < MAX_ASKED) asked.push(event);
        options.turn?.asked(event);
        options.questions.ask(event);
      },
      onInvalidQuestion: (actionId, problem) => race.end({ kind: 'invalid-question', actionId, problem }),
      onMetrics(metrics, isLast) {
        const over = options.spending.report(metrics);
        // What the last message reports is spent, and the work is done.
        if (over !== undefined && !isLast) race.end(over);
      },
    }),
  };
  await using _calls = await openCalls(attempt);
  await using ownership = await assignRunUser(attempt);
  using input = await openInput(attempt);
  using output = await openOutput(attempt, input);
  await using resources = await prepareResources(attempt);
  // As late as it may: its shell comes up while this process waits for the tool, and not beside the sandbox.
  const prepared = { ownership, input, output, resources, watchdog: startWatchdog() };
  await using tool = await spawnTool(attempt, prepared);
  await using supervision = supervise(attempt, prepared, tool);
  endStartTurn();
  services.standbys?.prepareSoon(attempt);
  await attempt.race.first;
  const observed = await windDown(attempt, prepared, tool, supervision);
  if (hasEndedItself(observed.ending)) warnOfMissedAnswers(attempt, asked);
  return observed;
}

/** A tool that takes the end of its standard input for an answer must not do so unnoticed. One that asks by an SDK gets answers as files. */
function warnOfMissedAnswers(
  { plan, intake, adapter, options }: AttemptContext,
  asked: readonly NewEvent[],
): void {
  if (asked.length === 0 || readsAnswers({ plan, adapter }) || adapter.readsNoAnswers || options.turn) return;
  const answered = answeredIds(plan.workspace);
  const missed = asked.filter(({ action_id }) => !answered.has(String(action_id)));
  if (missed.length === 0) return;
  const actions = [...new Set(missed.map(({ action }) => JSON.stringify(action)))].join(', ');
  intake.warnOnce(
    'missed-answers',
    'E_ACTION_REQUIRED',
    `the tool ended without an answer to its question ${actions}: only a tool with actions gets answers on standard input. In tool.yaml, write: actions: [${actions}]`,
  );
}

/** Assigns a Unix user to the run, and its files to that user, when the sandbox starts the tool as another user. */
async function assignRunUser({ services, plan, standby }: AttemptContext): Promise<RunOwnership | undefined> {
  const { sandboxed, tool, grants, runId } = plan;
  if (!sandboxed.changesUser) return undefined;
  const { takeOwnership } = await import('./run-user-ownership.ts');
  return takeOwnership(services, plan.workspace, runId, {
    grants: grants.map(({ from, ...grant }) => (from === undefined ? grant : { ...grant, path: from })),
    toolFiles: tool.entry === null ? [tool.dir] : [tool.dir, tool.entry],
    needsRunFolder: sandboxed.isolation.tier > 1,
    ...(standby?.claim && { claim: standby.claim }),
  });
}

/** Takes the calls of a tool that may start others; undefined for any other tool. */
async function openCalls(attempt: AttemptContext): Promise<AsyncDisposable | undefined> {
  if (!mayCallTools(attempt.plan.tool.manifest)) return undefined;
  const { ToolCalls } = await import('./tool-calls.ts');
  return new ToolCalls(attempt);
}

/** Opens the standard input of a tool that reads its caller's, records or answers; undefined for any other tool, whose input is empty. */
async function openInput({
  services,
  plan,
  race,
  adapter,
  standby,
}: AttemptContext): Promise<ToolInput | undefined> {
  const { manifest } = plan.tool;
  if (plan.tool.readsStdin) {
    const { GivenInput } = await import('./given-input.ts');
    return new GivenInput(plan.workspace, plan.input);
  }
  if (manifest.stdin === 'records') {
    if (plan.reads === undefined) return undefined;
    const { RecordFeed } = await import('../records/record-feed.ts');
    return new RecordFeed(services, plan.workspace, plan.reads, (reason) =>
      race.end({ kind: 'cancelled', reason }),
    );
  }
  if (!readsAnswers({ plan, adapter })) return undefined;
  if (standby?.input !== undefined) return standby.input;
  const { InputPipe } = await import('../../process/input-pipe.ts');
  return new InputPipe(services.runtime, plan.workspace.streams);
}

async function openOutput(attempt: AttemptContext, input: ToolInput | undefined): Promise<ToolOutput> {
  const { plan, writer, options } = attempt;
  const finalPaths = await finalPathsOf(plan);
  if (!plan.isRead) return new ToolOutput(attempt, input, undefined, finalPaths);
  const { BackpressureWindow } = await import('../records/backpressure.ts');
  return new ToolOutput(attempt, input, new BackpressureWindow(writer.log, options.control), finalPaths);
}

async function finalPathsOf({ staged, workspace }: ToolPlan) {
  if (staged.every(({ stays }) => stays)) return undefined;
  const { FinalPaths } = await import('./final-paths.ts');
  return (options: { json: boolean }) => new FinalPaths(staged, workspace, options);
}

function prepareResources({ services, plan }: AttemptContext): Promise<ResourceWatch> {
  return ResourceWatch.prepare({ runId: plan.runId, folder: plan.workspace.dir }, plan.resources, {
    mayMove: services.adoptsOrphans,
    places: plan.sandboxed.groups,
  });
}
