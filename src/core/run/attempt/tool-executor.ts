import { lstatSync, readdirSync } from 'node:fs';
import { AcorError } from '../../../protocol/acor-error.ts';
import type { ErrorInfo } from '../../../protocol/error-codes.ts';
import type { FinalState } from '../../../protocol/run.ts';
import { errorMessage } from '../../../util/error-code.ts';
import type { RunWriter } from '../../ports/run-store.ts';
import type { Exit } from '../../process/runtime.ts';
import { Watchdog } from '../../process/watchdog.ts';
import type { StagedOutput } from '../../registry/arguments.ts';
import type { MeasuredArtifact } from '../../store-files/artifacts.ts';
import { readsAnswers } from '../may-ask.ts';
import {
  cancelledFor,
  failureOf,
  isListedExit,
  judge,
  type ObservedAttempt,
  type Outcome,
  stopped,
} from '../outcome.ts';
import type { ToolPlan } from '../plan/tool-plan.ts';
import { type AttemptOptions, type AttemptOutcome, notStarted, type RunExecutor } from '../run-executor.ts';
import type { RunnerServices } from '../services.ts';
import { prepareWorkspace, reopenFolders } from '../workspace.ts';
import type { FileMeter } from './adapter.ts';
import { hasEndedItself } from './ending.ts';
import { leftoversIn } from './leftovers.ts';
import { copiedBytes, placesToKeep, prepareStaging, writtenOutputs } from './outputs.ts';
import type { PermissionQuestions } from './permission-questions.ts';
import type { ReportProtected } from './protected/watch-protected.ts';
import { canEnterLater, isFirstAttempt, SandboxKilled, StandbyRun, type StandbyWish } from './standby-run.ts';

/** A schema may find a problem in each of a million entries. */
const MAX_PROBLEM_CHARS = 1000;

/** Returns a function that creates the executor of a plan once the run has a writer. */
export async function executorFor(
  services: RunnerServices,
  plan: ToolPlan,
): Promise<(writer: RunWriter) => RunExecutor> {
  const conversational = plan.kind === 'task' ? await services.conversationalExecutor?.(plan) : undefined;
  return (writer) => {
    const turn = new ToolExecutor(services, plan, writer);
    return conversational?.(turn, writer) ?? turn;
  };
}

/** Starts it, or takes one that has watched an earlier run of this process. */
function startWatchdog({ runtime, watchdogs }: RunnerServices, plan: ToolPlan): Watchdog {
  const folder = plan.workspace.dir;
  return watchdogs?.watch(runtime, plan.runId, folder) ?? new Watchdog(runtime, plan.runId, { folder });
}

/** The run was cancelled while its artifacts were hashed; the message is the reason. */
class Cancelled extends Error {}

/** Executes a tool: runs its process, judges the attempt, and collects its artifacts and outputs. */
class ToolExecutor implements RunExecutor {
  readonly #services: RunnerServices;
  readonly #plan: ToolPlan;
  readonly #writer: RunWriter;
  #reportProtected: ReportProtected | undefined;
  #questions: PermissionQuestions | undefined;
  #staged: readonly StagedOutput[];
  /** Whether its outputs are in place, and the run has no final state yet. */
  #hasPlaced = false;
  /** For the next attempt; it may still come up. */
  #standby: Promise<StandbyRun | undefined> | undefined;
  #watchdog: Watchdog | undefined;

  constructor(services: RunnerServices, plan: ToolPlan, writer: RunWriter) {
    this.#services = services;
    this.#plan = plan;
    this.#writer = writer;
    this.#staged = plan.staged;
  }

  async begin(): Promise<void> {
    const wish = await this.#wish({ number: 1, isResumed: false });
    if (this.#plan.sandboxed.ahead === undefined || !canEnterLater(wish)) return;
    await this.#takeStandby(wish);
  }

  async endBegun(): Promise<void> {
    const begun = this.#standby;
    this.#standby = undefined;
    await (await begun)?.[Symbol.asyncDispose]();
    this.#watchdog?.[Symbol.dispose]();
    this.#watchdog = undefined;
  }

  async attempt(options: AttemptOptions): Promise<AttemptOutcome> {
    const { manifest, adapter } = this.#plan.tool;
    const { workspace } = this.#plan;
    const meter = this.#meterFor(options);
    let watchdog: Watchdog | undefined;
    const startWatch = () => {
      watchdog ??= this.#watchdog ?? startWatchdog(this.#services, this.#plan);
      this.#watchdog = undefined;
      return watchdog;
    };
    const endWatch = () => {
      watchdog?.[Symbol.dispose]();
      watchdog = undefined;
    };
    try {
      await this.#plan.guard.approved();
      const permissionQuestions = await this.#permissionQuestions();
      if (this.#standby === undefined) await this.#takeStandby(await this.#wish(options));
      const coming = this.#standby;
      this.#standby = undefined;
      await using standby = await coming;
      const refused = this.#plan.missing.length > 0 && (await permissionQuestions?.askBeforeStart(options));
      if (refused) return notStarted(refused);
      await this.#reportFallbackSandbox();
      this.#reportProtected ??= await this.#watchProtected();
      if (options.number > 1) reopenFolders(workspace);
      if (this.#plan.staged.length > 0 || !isFirstAttempt(options))
        this.#staged = prepareStaging(this.#plan.staged, workspace);
      const keptBytes = (await this.#keepWrites(options)) ?? 0;
      if (!this.#plan.sandboxed.takesSecrets && this.#plan.secrets !== null) {
        // It removes them if this process is killed.
        startWatch();
        this.#plan.secrets.deliver(workspace);
      }
      // Loaded late: the sandbox comes up meanwhile.
      const { runAttempt } = await import('./attempt.ts');
      const more = {
        meter,
        copiedBytes: copiedBytes(this.#staged) + keptBytes,
        permissionQuestions,
      };
      const start = (into: StandbyRun | undefined) => {
        const context = { ...more, standby: into };
        return runAttempt(this.#services, this.#plan, this.#writer, options, context, startWatch);
      };
      const attempt = await start(standby).catch((error: unknown) => {
        if (!(error instanceof SandboxKilled)) throw error;
        endWatch();
        return start(undefined);
      });
      if (attempt.ending.kind !== 'cancelled' && attempt.message?.type !== 'cancelled')
        this.#warnOfExitCode(attempt.exit);
      const judged = judge(attempt, {
        adapter,
        strict: manifest.strict,
        exitCodes: manifest.exit_codes,
        // Only an error that the tool reports is looked up by its code.
        extraCodes: attempt.message?.type === 'error' ? await this.#projectErrorCodes() : {},
      });
      const outcome = await this.#withCheckedData(judged, attempt);
      return {
        ...(await this.#withOutputs(outcome, attempt, meter, options)),
        wasStopped: !hasEndedItself(attempt.ending),
        exit: attempt.exit,
        survivors: attempt.survivors,
        result: attempt.message?.type === 'result' ? attempt.message : null,
        metrics: options.spending.settle({ hasRun: true }),
      };
    } catch (error) {
      const metrics = options.spending.settle({ hasRun: false });
      return { ...notStarted(await this.#failureOf(error)), metrics };
    } finally {
      endWatch();
      this.#plan.secrets?.withdraw(this.#writer.log, workspace);
    }
  }

  async conclude({ outcome, exit, wasStopped, artifacts }: AttemptOutcome): Promise<void> {
    await this.endBegun();
    await this.#compareKept(outcome);
    this.#reportProtected?.((msg, extra) => this.#warn(undefined, msg, extra));
    // Not sooner: a task puts new files in place after each turn.
    if (outcome.state === 'completed') return this.#reportLeftovers(artifacts);
    await this.#keepCheckpoints();
    if (outcome.state !== 'failed' || exit === null || wasStopped) return;
    const { explainFailure, nameException } = await import('../explain-failure.ts');
    explainFailure(this.#services, this.#plan, this.#writer, outcome);
    nameException(this.#plan, outcome);
  }

  async settle(state: FinalState): Promise<void> {
    if (!this.#hasPlaced) return;
    this.#hasPlaced = false;
    const { settleOutputs } = await import('./settle-outputs.ts');
    settleOutputs(this.#writer.log, this.#plan.workspace, state);
  }

  /** Takes a sandbox that waits for this run, with the folders of the run; or starts the run's own, which comes up while the attempt is prepared. */
  async #takeStandby(wish: StandbyWish): Promise<void> {
    const plan = this.#plan;
    const waiting = await this.#services.standbys?.take(wish);
    if (waiting !== undefined) {
      // Its shell reads which run it watches while the run gets ready: beside the start of the tool that would take the other processor.
      this.#watchdog ??= startWatchdog(this.#services, plan);
      this.#standby = Promise.resolve(waiting);
      return;
    }
    if (wish.options.number === 1) prepareWorkspace(plan.workspace);
    const source = plan.sandboxed.ahead;
    if (source === undefined || !canEnterLater(wish)) return;
    // The ordinary start reports why there can be none.
    this.#standby = StandbyRun.ahead(this.#services, plan, source, { hasInput: readsAnswers(wish) }).catch(
      () => undefined,
    );
  }

  async #wish(options: StandbyWish['options']): Promise<StandbyWish> {
    const permissionQuestions = await this.#permissionQuestions();
    const adapter = await this.#services.loadAdapter(this.#plan.tool.adapter);
    return { services: this.#services, plan: this.#plan, options, adapter, permissionQuestions };
  }

  /** Its answers hold for all attempts. The code for it is loaded only where runs may ask. */
  async #permissionQuestions(): Promise<PermissionQuestions | undefined> {
    if (this.#services.config.config.security.on_denied !== 'ask') return undefined;
    const { PermissionQuestions } = await import('./permission-questions.ts');
    this.#questions ??= new PermissionQuestions(this.#services, this.#plan, this.#writer);
    return this.#questions;
  }

  /** A run that did not complete may be resumed, on this machine or another. */
  async #keepCheckpoints(): Promise<void> {
    try {
      await this.#writer.keepCheckpoints(this.#plan.workspace.checkpoints);
    } catch (error) {
      this.#warn('E_STORAGE', `the checkpoints could not be kept: ${errorMessage(error)}`);
    }
  }

  /** Loads the watch only for tools with write grants: the run's own folders have nothing to protect. */
  async #watchProtected(): Promise<ReportProtected | undefined> {
    if (!this.#plan.grants.some(({ access, from }) => access === 'write' && from === undefined))
      return undefined;
    const { watchProtected } = await import('./protected/watch-protected.ts');
    return watchProtected(this.#plan);
  }

  /** Copies what the run is to keep, and returns the size of the layers. The code for it is loaded for few runs. */
  async #keepWrites({ cancelled }: AttemptOptions): Promise<number | undefined> {
    const wanted = placesToKeep(this.#plan);
    if (wanted.length === 0) return undefined;
    let reason: string | undefined;
    void cancelled.then((given) => {
      reason = given;
    });
    const { keepWrites } = await import('../../review/keep-writes.ts');
    return keepWrites(this.#plan.workspace.dir, wanted, () => {
      if (reason !== undefined) throw new Cancelled(reason);
    });
  }

  /** Reports what the run has changed in the places that it keeps. */
  async #compareKept({ state }: Outcome): Promise<void> {
    if (placesToKeep(this.#plan).length === 0) return;
    const { workspace } = this.#plan;
    const written = state === 'completed' ? writtenOutputs(this.#staged, workspace) : [];
    const outputs = written.filter(({ isReviewed }) => isReviewed).map(({ target }) => target);
    const { reportKept } = await import('./report-kept.ts');
    await reportKept(this.#writer.log, workspace.dir, outputs);
  }

  async #reportFallbackSandbox(): Promise<void> {
    const { fallback } = this.#plan.sandboxed;
    if (fallback === null) return;
    const { reportFallback } = await import('../../sandbox/report-fallback.ts');
    const news = reportFallback(fallback.chosen, fallback.cacheFolder);
    if (news === undefined) return;
    const next = news.next.map(this.#writer.commandOf);
    this.#warn(undefined, news.msg, { hint: news.hint, ...(next.length > 0 && { next }) });
  }

  /** Enforces `output_schema` (contract §5): data that does not fit is a warning, and with `strict: true` a failure. */
  async #withCheckedData(outcome: Outcome, { message }: ObservedAttempt): Promise<Outcome> {
    const { output_schema: schema, strict } = this.#plan.tool.manifest;
    if (schema === undefined || outcome.state !== 'completed' || message?.type !== 'result') return outcome;
    const { problemBySchema } = await import('../../registry/schema-check.ts');
    const problem = await problemBySchema(schema, message.data);
    if (problem === undefined) return outcome;
    const msg = `the data of the result does not match output_schema: ${problem.slice(0, MAX_PROBLEM_CHARS)}`;
    if (strict) return stopped('E_RESULT_INVALID', msg);
    this.#warn('E_RESULT_INVALID', msg);
    return outcome;
  }

  /** Completes an attempt only when its artifacts match what the tool reported, and its outputs are in place. */
  async #withOutputs(
    outcome: Outcome,
    attempt: ObservedAttempt,
    meter: FileMeter,
    { turn, putInPlace }: AttemptOptions,
  ): Promise<{ outcome: Outcome; artifacts: MeasuredArtifact[] }> {
    if (outcome.state !== 'completed') return { outcome, artifacts: [] };
    const { workspace } = this.#plan;
    if (attempt.message === undefined && this.#plan.tool.adapter !== 'plain' && !turn?.isAsking) {
      this.#warn(
        'E_NO_RESULT',
        'the tool exited with 0 without a result; the run counts as completed because strict is false',
      );
    }
    try {
      const outputs = writtenOutputs(this.#staged, workspace);
      for (const { input, target, replaces } of this.#staged) {
        // A tool may leave a file as it is: only a new one is missed.
        if (replaces === undefined && !outputs.some((output) => output.target === target)) {
          this.#warn(undefined, `the tool did not write its output '${input}': ${target}`);
        }
      }
      const measured = await this.#artifactsOf(attempt, outputs, meter);
      const moved = outputs.filter(({ stays }) => !stays);
      if (moved.length > 0) {
        const { placeOutputs } = await import('./place-outputs.ts');
        placeOutputs(moved, workspace, this.#writer.log);
        this.#hasPlaced = true;
      }
      const artifacts = putInPlace?.(measured) ?? measured;
      const { store } = this.#services;
      for (const artifact of artifacts)
        if (artifact.kind === 'file') await store.blobs.keep(this.#plan.runId, artifact);
      for (const artifact of artifacts) this.#writer.log.append({ type: 'artifact', ...artifact });
      this.#plan.secrets?.warnOfArtifacts(this.#writer, artifacts);
      return { outcome, artifacts };
    } catch (error) {
      await this.settle('failed');
      return { outcome: await this.#failureOf(error), artifacts: [] };
    }
  }

  /** Most tools leave no artifacts: the code for them is loaded only where there are some. */
  async #artifactsOf(
    { message, files }: ObservedAttempt,
    outputs: readonly StagedOutput[],
    meter: FileMeter,
  ): Promise<MeasuredArtifact[]> {
    const { workspace, grants, secrets } = this.#plan;
    const named = Array.isArray(message?.artifacts) ? message.artifacts : [];
    const known = named.length + outputs.length + files.length;
    if (known === 0 && isEmptyFolder(workspace.artifacts)) return [];
    const { collectArtifacts } = await import('./collect-artifacts.ts');
    return collectArtifacts(meter, workspace, message, { outputs, grants, secrets }, files);
  }

  /** The tool has ended by then, so no guard of the attempt looks at the deadline and the cancel. */
  #meterFor({ leftMs, cancelled }: AttemptOptions): FileMeter {
    let reason: string | undefined;
    void cancelled.then((given) => {
      reason = given;
    });
    const check = () => {
      if (reason !== undefined) throw new Cancelled(reason);
      if (leftMs() > 0) return;
      const { timeoutS } = this.#plan.limits;
      throw new AcorError(
        'E_DEADLINE',
        `the deadline of ${timeoutS} s passed while the artifacts were hashed`,
        {
          hint: 'Let the tool write less into its workspace and ARTIFACTS_DIR, or raise timeout_s in its manifest.',
        },
      );
    };
    const load = async () => (await import('./collect-artifacts.ts')).meterOf(this.#plan, check);
    let meter: Promise<FileMeter> | undefined;
    return {
      measure: async (path) => {
        meter ??= load();
        return (await meter).measure(path);
      },
    };
  }

  #reportLeftovers(artifacts: readonly MeasuredArtifact[]): void {
    const paths = artifacts.map(({ path }) => path);
    const left = leftoversIn(this.#plan.workspace, paths);
    if (left === undefined) return;
    const { msg, ...extra } = left;
    this.#warn(undefined, msg, extra);
  }

  async #failureOf(error: unknown): Promise<Outcome> {
    if (error instanceof Cancelled) return cancelledFor(error.message);
    const outcome = failureOf(error, this.#plan.workspace.dir);
    if (this.#staged.length === 0 || outcome.message === null) return outcome;
    const { finalPathsIn } = await import('./final-paths.ts');
    return { ...outcome, message: finalPathsIn(outcome.message, this.#staged, this.#plan.workspace) };
  }

  /** An invalid file of error codes must not replace the tool's own error. */
  async #projectErrorCodes(): Promise<Readonly<Record<string, ErrorInfo>>> {
    try {
      return await this.#services.registry.errorCodes();
    } catch (error) {
      if (!(error instanceof AcorError)) throw error;
      this.#warn(error.code, `the project's error codes cannot be read: ${error.message}`);
      return {};
    }
  }

  #warnOfExitCode({ rc }: Exit): void {
    const expected = this.#plan.tool.manifest.exit_codes;
    // Without a manifest there is nothing that could list the code.
    if (rc === null || this.#plan.tool.manifestPath === null || isListedExit(rc, expected)) return;
    this.#warn(undefined, `exit code ${rc} is not in the manifest's exit_codes`, { expected, actual: rc });
  }

  #warn(code: string | undefined, msg: string, extra: Record<string, unknown> = {}): void {
    this.#writer.log.append({ type: 'runner_warning', ...(code !== undefined && { code }), msg, ...extra });
  }
}

/** False for what is no folder, or cannot be read. */
function isEmptyFolder(path: string): boolean {
  try {
    return lstatSync(path).isDirectory() && readdirSync(path).length === 0;
  } catch {
    return false;
  }
}
