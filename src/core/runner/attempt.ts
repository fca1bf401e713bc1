import { AcorError } from '../../protocol/acor-error.ts';
import { errorCode, errorMessage } from '../../util/error-code.ts';
import { InputPipe } from '../process/input-pipe.ts';
import { forgetCompanion, ProcessTree, registerCompanion, type Survivor } from '../process/kill-tree.ts';
import type { Exit, SpawnedProcess } from '../process/runtime.ts';
import { Watchdog } from '../process/watchdog.ts';
import type { SandboxLaunch, ToolExit } from '../sandbox/sandbox.ts';
import type { ControlFolder } from '../storage/control-folder.ts';
import type { RunWriter } from '../storage/run-store.ts';
import { storageError } from '../storage/storage-error.ts';
import type { Questions } from './answers/questions.ts';
import { recordEgress } from './egress-events.ts';
import { type Ending, EndingRace } from './ending.ts';
import { environmentOf } from './environment.ts';
import { guardDeadline } from './guards/deadline.ts';
import type { StopGuard } from './guards/guard.ts';
import { guardLiveness } from './guards/liveness.ts';
import { guardStall } from './guards/stall.ts';
import type { HandOver } from './hand-over.ts';
import { type EndingMessage, Intake } from './intake.ts';
import type { RunPlan } from './plan.ts';
import type { RunnerServices } from './services.ts';
import { endLeftovers, stopTool } from './stop-tool.ts';
import { ToolOutput } from './tool-output.ts';

/** What one try of a tool came to. */
export interface AttemptResult {
  ending: Ending;
  exit: Exit;
  message: EndingMessage | undefined;
  protocolProblem: string | undefined;
  survivors: Survivor[];
}

export interface AttemptOptions {
  number: number;
  deadline: Date;
  /** Whether an attempt before it has left checkpoints to go on from. */
  isResumed: boolean;
  /** Time left of the whole run. */
  leftMs: number;
  /** Settles when the caller wants the run to end, with the reason; `hurry` when without any grace. */
  cancelled: Promise<string>;
  hurry: Promise<void>;
  questions: Questions;
  control: ControlFolder;
}

/** Starts the tool once and sees it through to its end, whatever that is; when it returns, nothing of the tool is left alive. */
export async function runAttempt(
  services: RunnerServices,
  plan: RunPlan,
  writer: RunWriter,
  options: AttemptOptions,
): Promise<AttemptResult> {
  const race = new EndingRace();
  const intake = new Intake(writer.log, {
    runId: plan.runId,
    mayEmitTasks: plan.tool.manifest.role === 'orchestrator',
    onQuestion: (event) => options.questions.ask(event),
  });
  const output = new ToolOutput(services, plan, writer, intake, race);
  const watchdog = new Watchdog(services.runtime, plan.runId);
  registerCompanion(watchdog.pid);
  // A tool that may ask hears the answers on its standard input; for any other it is at its end.
  const input =
    plan.tool.manifest.actions.length > 0
      ? new InputPipe(services.runtime, writer.layout.control)
      : undefined;
  const env = environmentOf(plan, writer.layout, options);
  const { sandboxed } = plan;
  let handed: HandOver | undefined;
  let launch: SandboxLaunch | undefined;
  try {
    if (sandboxed.changesUser) {
      const { handOver, handStreams } = await import('./hand-over.ts');
      const isReachedByPath = sandboxed.isolation.tier > 1;
      const { dir, entry } = plan.tool;
      const toolFiles = entry === null ? [dir] : [dir, entry];
      const wanted = { grants: plan.grants, toolFiles, isReachedByPath };
      handed = await handOver(services.store, writer.layout, plan.runId, wanted);
      handStreams(writer.layout, handed.user);
    }
    launch = sandboxed.launch({
      ...output.pump.targets,
      ...(input && { stdin: input.target }),
      env,
      user: handed?.user ?? null,
      scratch: writer.layout.control,
      tellOfEgress(note) {
        recordEgress(writer, note);
        output.store();
      },
    });
    const child = spawnTool(services, launch);
    launch.release();
    race.watchExit(() => launch!.hasEnded());
    input?.releaseReadEnd();
    options.questions.begin({
      deliver: (line) => input?.write(line),
      onUnanswered: (actionId, timeoutS) => race.end({ kind: 'unanswered', actionId, timeoutS }),
      onFailed: (error) =>
        race.end({
          kind: 'store-failed',
          error: storageError(error, 'keep an answer', writer.layout.answers),
        }),
    });
    watchdog.watchGroup(child.pid);
    output.pump.start(child);
    const tree = new ProcessTree(services.runtime, {
      rootPid: child.pid,
      runId: plan.runId,
      adopts: services.adoptsOrphans,
      keepers: launch.keepers,
    });
    const guards = startGuards(plan, writer, intake, output, race, options);
    const exited = child.exited.then((exit) => settle(launch!, exit));
    exited.then(({ exit }) => race.end({ kind: 'exited', exit }));
    options.cancelled.then((reason) => race.end({ kind: 'cancelled', reason }));

    const ending = await race.first;
    for (const stop of guards) stop();
    if (ending.kind !== 'exited') {
      await stopTool({
        tree,
        exited,
        control: options.control,
        reason: reasonOf(ending),
        graceMs: ending.kind === 'store-failed' ? 0 : plan.limits.cancelGraceS * 1000,
        hurry: options.hurry,
      });
    }
    const { exit, left: leftInside, failure } = await exited;
    await options.questions.end();
    const { left: leftOutside, survivors } = await endLeftovers(tree);
    tree.release();
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
      ending: endingOf(race, output),
      exit,
      message: intake.ending,
      protocolProblem: intake.problem,
      survivors,
    };
  } finally {
    launch?.close();
    output.close();
    input?.close();
    watchdog.dismiss();
    forgetCompanion(watchdog.pid);
    if (handed !== undefined) await handed.giveBack();
  }
}

/** A tool that ended by itself has not ended well when its last words could not be stored. */
function endingOf({ winner }: EndingRace, { failure }: ToolOutput): Ending {
  return winner!.kind === 'exited' && failure !== undefined
    ? { kind: 'store-failed', error: failure }
    : winner!;
}

/** How the tool ended, or what kept it from being started at all. */
function settle(launch: SandboxLaunch, exit: Exit): ToolExit & { failure?: unknown } {
  try {
    return launch.settle(exit);
  } catch (failure) {
    return { exit, left: 0, failure };
  }
}

function spawnTool(services: RunnerServices, { spawn }: SandboxLaunch): SpawnedProcess {
  const { argv } = spawn;
  try {
    return services.runtime.spawn(spawn);
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
  plan: RunPlan,
  writer: RunWriter,
  intake: Intake,
  output: ToolOutput,
  race: EndingRace,
  options: AttemptOptions,
): StopGuard[] {
  const { limits } = plan;
  const { questions } = options;
  // A tool that waits for an answer is not silent; its clock begins anew with the answer.
  const sinceWaiting = (lastMs: () => number) => () =>
    questions.isWaiting ? performance.now() : Math.max(questions.lastAnswerMs, lastMs());
  intake.lastEventMs = intake.lastProgressMs = performance.now();
  const guards = [
    guardDeadline(race, {
      leftMs: options.leftMs,
      timeoutS: limits.timeoutS,
      isOutputClosed: () => output.isStdoutClosed,
    }),
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
  return guards;
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
    default:
      return ending.kind;
  }
}
