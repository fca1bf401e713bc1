import { AcorError } from '../../../protocol/acor-error.ts';
import { errorCode, errorMessage } from '../../../util/error-code.ts';
import { unreachable } from '../../../util/unreachable.ts';
import type { RunWriter } from '../../ports/run-store.ts';
import type { InputPipe } from '../../process/input-pipe.ts';
import { ProcessTree } from '../../process/kill-tree.ts';
import type { Exit, SpawnedProcess } from '../../process/runtime.ts';
import type { Watchdog } from '../../process/watchdog.ts';
import type { EgressNote } from '../../sandbox/egress/connection-log.ts';
import type { LaunchOptions, SandboxLaunch } from '../../sandbox/sandbox.ts';
import { environmentOf } from '../plan/environment.ts';
import type { RecordFeed } from '../records/record-feed.ts';
import type { AttemptContext } from './attempt-context.ts';
import type { GivenInput } from './given-input.ts';
import type { ResourceWatch } from './resources/resource-watch.ts';
import type { RunOwnership } from './run-user-ownership.ts';
import type { StandbyRun } from './standby-run.ts';
import type { ToolOutput } from './tool-output.ts';

/** A tool's standard input: the answers to its questions, the records of another run, or what its caller gave. */
export type ToolInput = InputPipe | RecordFeed | GivenInput;

/** What an attempt acquires before it starts the tool. */
export interface PreparedAttempt {
  /** Undefined for a tool that runs as its supervisor's user. */
  ownership: RunOwnership | undefined;
  /** Undefined for a tool whose standard input is empty. */
  input: ToolInput | undefined;
  output: ToolOutput;
  resources: ResourceWatch;
  watchdog: Watchdog;
}

/** A started tool in its sandbox. Disposing of it kills the processes that are still alive. */
export class SpawnedTool implements AsyncDisposable {
  readonly child: SpawnedProcess;
  readonly launch: SandboxLaunch;
  readonly tree: ProcessTree;
  /** Settles when the spawned process has ended; `failure` is set when the sandbox failed and not the tool. */
  readonly exited: Promise<{ exit: Exit; left: number; isEmpty?: boolean; failure?: unknown }>;
  #isGone = false;

  constructor({ services, plan }: AttemptContext, launch: SandboxLaunch, child: SpawnedProcess) {
    this.child = child;
    this.launch = launch;
    this.tree = new ProcessTree(services.runtime, {
      rootPid: child.pid,
      run: { runId: plan.runId, folder: plan.workspace.dir },
      adopts: services.adoptsOrphans,
      sandboxProcessDepth: launch.sandboxProcessDepth,
      ...(launch.isProxyProcess && { isProxyProcess: true }),
      ...(launch.hasReaper && { hasReaper: true }),
    });
    this.exited = child.exited.then((exit) => {
      try {
        return launch.settle(exit);
      } catch (failure) {
        return { exit, left: 0, failure };
      }
    });
  }

  /** Call it once no process of the tool is alive. */
  markGone(): void {
    this.#isGone = true;
    this.tree.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      if (!this.#isGone) await this.tree.kill();
    } finally {
      this.tree.release();
      this.launch.close();
    }
  }
}

/** Starts the tool in its sandbox. Throws E_SPAWN_FAILED. */
export async function spawnTool(attempt: AttemptContext, prepared: PreparedAttempt): Promise<SpawnedTool> {
  prepared.ownership?.ownStreams();
  const started = enterStandby(attempt, prepared);
  if (started !== undefined) return new SpawnedTool(attempt, started.launch, started.child);
  const launch = attempt.plan.sandboxed.launch(optionsOf(attempt, prepared));
  try {
    if (launch.forceKillCommand !== undefined) prepared.watchdog.endBy(launch.forceKillCommand);
    return new SpawnedTool(attempt, launch, await spawn(attempt, launch));
  } catch (error) {
    launch.close();
    throw error;
  }
}

/** Starts the tool in the sandbox that waits for the run; undefined when there is none, or its orders do not fit. */
function enterStandby(attempt: AttemptContext, prepared: PreparedAttempt): ReturnType<StandbyRun['enter']> {
  const { plan, standby } = attempt;
  return standby?.enter(optionsOf(attempt, prepared), plan.workspace.dir);
}

function optionsOf(
  { services, plan, writer, options, permissionQuestions }: AttemptContext,
  { ownership, input, output, resources }: PreparedAttempt,
): LaunchOptions {
  const { sandboxed, secrets, workspace } = plan;
  return {
    ...output.pump.targets,
    ...(input && { stdin: input.target }),
    env: environmentOf(plan, workspace, { ...options, deadline: options.deadline() }),
    user: ownership?.user ?? null,
    // Not in `control`: each change there wakes the supervisor.
    scratch: workspace.dir,
    groups: resources.groupFds,
    ...(sandboxed.takesSecrets && secrets && { secrets: secrets.sandboxFiles(services.runtime, workspace) }),
    ...(secrets?.injector && { injector: secrets.injector }),
    ...(permissionQuestions && {
      askHost: (host, port) => permissionQuestions.askForHost(options, host, port),
    }),
    onEgress(note) {
      recordEgress(writer, note);
      void output.store();
    },
  };
}

async function spawn({ services }: AttemptContext, launch: SandboxLaunch): Promise<SpawnedProcess> {
  const { argv } = launch.spawn;
  try {
    return await services.runtime.spawn(launch.spawn);
  } catch (error) {
    const missing = errorCode(error) === 'ENOENT';
    throw new AcorError(
      'E_SPAWN_FAILED',
      `cannot start ${argv[0]}: ${missing ? 'no such program' : errorMessage(error)}`,
      {
        hint:
          errorCode(error) === 'E2BIG'
            ? 'The system limits the length of arguments (128 KB each on Linux): pass a long value in a file.'
            : 'Check that the program of the tool exists and is executable, and that the interpreter in its first line exists.',
        cause: error,
      },
    );
  }
}

/** Records the connections of a tool in the log of its run. */
function recordEgress({ log }: RunWriter, note: EgressNote): void {
  const { kind, ...fields } = note;
  switch (kind) {
    case 'allowed':
    case 'total':
      log.append({ type: 'runner_log', level: 'info', ...fields });
      break;
    case 'failed':
      log.append({ type: 'runner_warning', ...fields });
      break;
    case 'denied':
      log.append({ type: 'runner_warning', code: 'E_POLICY_DENIED', ...fields });
      break;
    default:
      unreachable(kind);
  }
}
