import { AcorError } from '../../../protocol/acor-error.ts';
import { errorCode, errorMessage } from '../../../util/error-code.ts';
import { InputPipe } from '../../process/input-pipe.ts';
import { forgetCompanion, ProcessTree, registerCompanion, type Survivor } from '../../process/kill-tree.ts';
import type { Exit, SpawnedProcess } from '../../process/runtime.ts';
import { Watchdog } from '../../process/watchdog.ts';
import type { SandboxLaunch, ToolExit } from '../../sandbox/sandbox.ts';
import type { MeasuredArtifact } from '../../store-files/artifacts.ts';
import type { RunWriter } from '../../store-files/run-store.ts';
import { storageError } from '../../store-files/storage-error.ts';
import { environmentOf } from '../plan/environment.ts';
import type { ToolPlan } from '../plan/plan.ts';
import type { BackpressureWindow } from '../records/backpressure-window.ts';
import type { RecordFeed } from '../records/record-feed.ts';
import type { AttemptOptions } from '../run-executor.ts';
import type { RunnerServices } from '../services.ts';
import type { AdapterKind } from './adapter.ts';
import { recordEgress } from './egress-events.ts';
import { type Ending, EndingRace, hasEndedItself } from './ending.ts';
import { type DeadlineGuard, guardDeadline } from './guards/deadline.ts';
import type { StopGuard } from './guards/guard.ts';
import { guardLiveness } from './guards/liveness.ts';
import { guardStall } from './guards/stall.ts';
import { type EndingMessage, Intake } from './intake.ts';
import { ResourceWatch } from './resources/resource-watch.ts';
import type { RunOwnership } from './run-user-ownership.ts';
import { endLeftovers, stopTool } from './stop-tool.ts';
import { ToolOutput } from './tool-output.ts';

/** What one try of a tool came to. */
export interface AttemptResult {
  ending: Ending;
  exit: Exit;
  message: EndingMessage | undefined;
  protocolProblem: string | undefined;
  survivors: Survivor[];
  /** What the adapter has found of the files that the tool told of. */
  files: readonly MeasuredArtifact[];
}

/** Starts the tool once and sees it through to its end, whatever that is; when it returns, nothing of the tool is left alive. */
export async function runAttempt(
  services: RunnerServices,
  plan: ToolPlan,
  writer: RunWriter,
  options: AttemptOptions,
): Promise<AttemptResult> {
  const race = new EndingRace();
  const intake = new Intake(writer.log, {
    runId: plan.runId,
    mayEmitTasks: plan.tool.manifest.role === 'orchestrator',
    onQuestion(event) {
      options.turn?.asked(event);
      options.questions.ask(event);
    },
  });
  const adapter = await services.loadAdapter(plan.tool.adapter);
  const output = new ToolOutput(services, plan, writer, intake, race, {
    adapter,
    attempt: options.number,
    lead: await leadOf(plan, writer),
    send: (line) => input?.write(line),
    endInput: () => input?.end(),
  });
  const watchdog = new Watchdog(services.runtime, plan.runId, writer.layout.secrets);
  registerCompanion(watchdog.pid);
  const input = await openInput(services, plan, writer, race, adapter);
  const deadline = options.deadline();
  const waitedBeforeMs = options.questions.waitedMs;
  const env = environmentOf(plan, writer.layout, { ...options, deadline });
  const { sandboxed } = plan;
  const resources = await ResourceWatch.prepare(plan.runId, plan.resources, {
    mayMove: services.adoptsOrphans,
    places: sandboxed.groups,
  });
  let handed: RunOwnership | undefined;
  let launch: SandboxLaunch | undefined;
  let tree: ProcessTree | undefined;
  try {
    if (sandboxed.changesUser) {
      const { takeOwnership, chownStreams } = await import('./run-user-ownership.ts');
      const isReachedByPath = sandboxed.isolation.tier > 1;
      const { dir, entry } = plan.tool;
      const toolFiles = entry === null ? [dir] : [dir, entry];
      const wanted = { grants: plan.grants, toolFiles, isReachedByPath };
      handed = await takeOwnership(services.store, writer.layout, plan.runId, wanted);
      chownStreams(writer.layout, handed.user);
    }
    launch = sandboxed.launch({
      ...output.pump.targets,
      ...(input && { stdin: input.target }),
      env,
      user: handed?.user ?? null,
      // Not in `control`: each file there wakes the supervisor, which looks for requests.
      scratch: writer.layout.dir,
      groups: resources.groupFds,
      ...(sandboxed.takesSecrets &&
        plan.secrets && { secrets: plan.secrets.handed(services.runtime, writer.layout) }),
      onEgress(note) {
        recordEgress(writer, note);
        output.store();
      },
    });
    if (launch.forceKillCommand !== undefined) watchdog.endBy(launch.forceKillCommand);
    const child = await spawnTool(services, launch);
    tree = new ProcessTree(services.runtime, {
      rootPid: child.pid,
      runId: plan.runId,
      adopts: services.adoptsOrphans,
      sandboxProcessDepth: launch.sandboxProcessDepth,
      ...(launch.isProxyProcess && { isProxyProcess: true }),
    });
    launch.release();
    race.watchExit(() => launch!.hasEnded());
    input?.releaseReadEnd();
    watchdog.watchGroup(child.pid);
    output.pump.start(child);
    const { work, artifacts, toolLogs } = writer.layout;
    const strays = tree;
    resources.start(race, {
      rootPid: child.pid,
      sandboxProcessDepth: launch.sandboxProcessDepth,
      strays: () => strays.orphans(),
      folders: [work, artifacts, toolLogs],
    });
    const { deadlineGuard, guards } = startGuards(plan, writer, intake, output, race, {
      ...options,
      lastGivenMs: () => (input !== undefined && 'lastGivenMs' in input ? input.lastGivenMs : 0),
    });
    options.questions.begin({
      deliver(line) {
        options.turn?.delivered(line);
        input?.write(output.answerOf(line));
      },
      news: () => newsOfDeadline(plan, options, waitedBeforeMs),
      onGoingOn: () => deadlineGuard.look(),
      onUnanswered: (actionId, timeoutS) => race.end({ kind: 'unanswered', actionId, timeoutS }),
      onFailed: (error) =>
        race.end({
          kind: 'store-failed',
          error: storageError(error, 'keep an answer', writer.layout.answers),
        }),
    });
    const exited = child.exited.then((exit) => settle(launch!, exit));
    exited.then(({ exit }) => race.end({ kind: 'exited', exit }));
    options.cancelled.then((reason) => race.end({ kind: 'cancelled', reason }));

    const ending = await race.first;
    for (const stop of guards) stop();
    resources.stop();
    if (ending.kind !== 'exited') {
      await stopTool({
        tree,
        exited,
        control: options.control,
        reason: reasonOf(ending),
        // What uses too much would go on doing so.
        graceMs: isWithoutGrace(ending) ? 0 : plan.limits.cancelGraceS * 1000,
        forceCancel: options.forceCancel,
      });
    }
    const { exit, left: leftInside, failure } = await exited;
    const { left: leftOutside, survivors } = await endLeftovers(tree);
    tree.release();
    // May throw, which must not keep anything alive.
    if (options.turn === undefined) await options.questions.end();
    if (failure !== undefined) throw failure;
    const left = leftInside + leftOutside;
    await output.finish(ending.kind === 'exited' ? exit.rc : null);
    if (left > 0)
      intake.warnOnce(
        'left',
        undefined,
        `the tool ended and left ${left} process(es) running; they were ended`,
      );
    return {
      ending: await resources.judge(endingOf(race, output), {
        message: intake.ending,
        exitCodes: plan.tool.manifest.exit_codes,
        stderrLog: writer.layout.stderrLog,
      }),
      exit: resources.measured(exit),
      message: intake.ending,
      protocolProblem: intake.problem,
      survivors,
      files: output.files,
    };
  } catch (error) {
    // Whatever went wrong after the tool was started, nothing of it lives on.
    await tree?.kill();
    tree?.release();
    throw error;
  } finally {
    launch?.close();
    await resources.close();
    output.close();
    input?.close();
    watchdog.dismiss();
    forgetCompanion(watchdog.pid);
    if (handed !== undefined) await handed.restoreOwnership();
  }
}

/** What a tool reads: the records of another run, or the answers to its questions; for any other, its standard input is at its end. */
async function openInput(
  services: RunnerServices,
  { tool: { manifest }, reads }: ToolPlan,
  writer: RunWriter,
  race: EndingRace,
  { hearsNoAnswers }: AdapterKind,
): Promise<InputPipe | RecordFeed | undefined> {
  if (manifest.stdin === 'records') {
    if (reads === undefined) return undefined;
    const { RecordFeed } = await import('../records/record-feed.ts');
    return new RecordFeed(services, writer, reads, (reason) => race.end({ kind: 'cancelled', reason }));
  }
  const hearsAnswers = manifest.actions.length > 0 && !hearsNoAnswers;
  return hearsAnswers ? new InputPipe(services.runtime, writer.layout.control) : undefined;
}

/** How far the tool is ahead of the next one in its pipe; undefined for one that nobody waits for. */
async function leadOf({ isRead }: ToolPlan, writer: RunWriter): Promise<BackpressureWindow | undefined> {
  if (!isRead) return undefined;
  const { BackpressureWindow } = await import('../records/backpressure-window.ts');
  return new BackpressureWindow(writer);
}

/** A tool that ended by itself has not ended well when its last words could not be stored. */
function endingOf({ winner }: EndingRace, { failure }: ToolOutput): Ending {
  return hasEndedItself(winner!) && failure !== undefined
    ? { kind: 'store-failed', error: failure }
    : winner!;
}

function isWithoutGrace({ kind }: Ending): boolean {
  return kind === 'store-failed' || kind === 'over-limit';
}

/** How the tool ended, or what kept it from being started at all. */
function settle(launch: SandboxLaunch, exit: Exit): ToolExit & { failure?: unknown } {
  try {
    return launch.settle(exit);
  } catch (failure) {
    return { exit, left: 0, failure };
  }
}

async function spawnTool(services: RunnerServices, { spawn }: SandboxLaunch): Promise<SpawnedProcess> {
  const { argv } = spawn;
  try {
    return await services.runtime.spawn(spawn);
  } catch (error) {
    const missing = errorCode(error) === 'ENOENT';
    throw new AcorError(
      'E_SPAWN_FAILED',
      `cannot start ${argv[0]}: ${missing ? 'no such program' : errorMessage(error)}`,
      {
        hint:
          errorCode(error) === 'E2BIG'
            ? 'The system takes arguments only up to a length (128 KB each on Linux): give a long value in a file.'
            : 'Check that the program of the tool exists, that its mode bits let it run, and that the interpreter in its first line exists.',
        cause: error,
      },
    );
  }
}

function startGuards(
  plan: ToolPlan,
  writer: RunWriter,
  intake: Intake,
  output: ToolOutput,
  race: EndingRace,
  options: AttemptOptions & { lastGivenMs: () => number },
): { deadlineGuard: DeadlineGuard; guards: StopGuard[] } {
  const { limits } = plan;
  const { questions } = options;
  // A tool that waits for an answer, or for another tool, is not silent; its clock begins anew with what it was given.
  const sinceWaiting = (lastMs: () => number) => () =>
    questions.isWaiting || output.isPaused
      ? performance.now()
      : Math.max(questions.lastAnswerMs, options.lastGivenMs(), lastMs());
  intake.lastEventMs = intake.lastProgressMs = performance.now();
  const deadlineGuard = guardDeadline(race, {
    leftMs: options.leftMs,
    standsStill: () => limits.waitingStopsDeadline && questions.standsStill,
    timeoutS: limits.timeoutS,
    isOutputClosed: () => output.isStdoutClosed,
  });
  const guards = [
    deadlineGuard.stop,
    guardLiveness(race, {
      graceS: limits.heartbeatGraceS,
      lastEventMs: sinceWaiting(() => intake.lastEventMs),
    }),
  ];
  if (limits.stallS !== null) {
    guards.push(
      guardStall({
        stallS: limits.stallS,
        lastProgressMs: sinceWaiting(() => intake.lastProgressMs),
        onStall: (stalledForS) => {
          writer.log.append({
            type: 'runner_warning',
            msg: `no progress for ${stalledForS.toFixed(1)} s`,
            stalled_for_s: stalledForS,
          });
          output.store();
        },
      }),
    );
  }
  return { deadlineGuard, guards };
}

/** What goes with an answer when the wait for it has put the deadline off: the tool was told another one at its start. */
function newsOfDeadline(
  { limits }: ToolPlan,
  { questions, deadline, number }: AttemptOptions,
  waitedBeforeMs: number,
): Record<string, unknown> {
  if (!limits.waitingStopsDeadline || questions.waitedMs <= waitedBeforeMs) return {};
  return { deadline_ts: deadline().toISOString(), attempt: number };
}

function reasonOf(ending: Ending): string {
  switch (ending.kind) {
    case 'cancelled':
      return ending.reason;
    case 'deadline':
      return 'deadline';
    case 'silent':
      return 'heartbeat-missed';
    case 'output-limit':
      return 'output-limit';
    case 'unanswered':
      return 'no-answer';
    case 'over-limit':
      return ending.limit;
    default:
      return ending.kind;
  }
}
