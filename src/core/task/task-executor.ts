import { mkdirSync, rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { withoutKind } from '../../protocol/run.ts';
import { countOf } from '../../util/count-of.ts';
import type { LoadedConfig } from '../config/load.ts';
import { MORE, questionForMore } from '../cost/ask-for-more.ts';
import type { Rates } from '../cost/rates.ts';
import type { Metrics, OverBudget } from '../cost/run-spending.ts';
import type { RunStore, RunWriter } from '../ports/run-store.ts';
import { failureOf, type Outcome, overBudget, stopped } from '../run/outcome.ts';
import type { ToolPlan } from '../run/plan/tool-plan.ts';
import {
  type AttemptOptions,
  type AttemptOutcome,
  notStarted,
  type RunExecutor,
} from '../run/run-executor.ts';
import type { MeasuredArtifact } from '../store-files/artifacts.ts';
import { changesBetween, snapshotOf } from './changed-files.ts';
import { closedAtTop, homeOf, NEW_FILES, programOf, userHome, writesOf } from './executor-tool.ts';
import { type Executor, executorOf, type TaskSettings } from './executors.ts';
import { placedPath, placeNewFiles } from './new-files.ts';
import { answersPrompt, CONTINUE, instructionsFor, resumePrompt, taskPrompt } from './prompt.ts';
import { changeTask, readTask, refuseWhileLive, sessionLeftIn } from './task-record.ts';
import { answersGiven, type GivenAnswer, TurnQuestions } from './turn-questions.ts';
import { writeTurn } from './turn-script.ts';

/** What a task's run needs; `work` starts the executor once. */
interface TaskGround {
  config: LoadedConfig;
  store: RunStore;
  /** The project's runs folder, which contains the task records. */
  runsDir: string;
  plan: ToolPlan;
  work: RunExecutor;
  writer: RunWriter;
}

/**
 * Executes a task's run turn by turn. When a turn ends with open questions, it waits for the answers and starts the
 * next turn of the same conversation with them.
 */
export class TaskExecutor implements RunExecutor {
  readonly #ground: TaskGround;
  /** The names of new files and folders at the top of the project. */
  readonly #placed = new Set<string>();

  constructor(ground: TaskGround) {
    this.#ground = ground;
  }

  async attempt(options: AttemptOptions): Promise<AttemptOutcome> {
    const { plan } = this.#ground;
    try {
      return await this.#turns(options);
    } catch (error) {
      return notStarted(failureOf(error, plan.workspace.dir));
    } finally {
      for (const name of ['turn.sh', 'turn.json'])
        rmSync(join(plan.workspace.toolControl, name), { force: true });
    }
  }

  conclude(last: AttemptOutcome): Promise<void> {
    return this.#ground.work.conclude(last);
  }

  async #turns(options: AttemptOptions): Promise<AttemptOutcome> {
    const { config, store, runsDir, plan, work } = this.#ground;
    const settings = config.config.task;
    const { taskId, description, planFile } = argumentsOf(plan);
    await changeTask(runsDir, taskId, async (record) => {
      await refuseWhileLive(store, record, plan.runId);
      return { ...record, run_id: plan.runId, turns: record.run_id === plan.runId ? record.turns : 0 };
    });
    mkdirSync(homeOf(config, withoutKind(plan.name), plan.callerEnv), { recursive: true, mode: 0o700 });
    const hearsAnswers = plan.tool.adapter === 'jsonl';
    const writes = writesOf(config, plan.callerEnv);
    const before = snapshotOf(config.root, writes);
    const executor = executorOf(plan.name, settings);
    const model = modelOf(executor, settings);
    const { spending } = options;
    const sums = new TurnSums();
    const first = taskPrompt(taskId, description, planFile);
    const given: GivenAnswer[] = [];
    let prompt = options.isResumed ? resumePrompt(first, await answersGiven(store, plan.runId)) : first;
    for (let count = 1; ; count++) {
      const over = spending.over();
      if (over !== undefined && !(await this.#mayGoOn(over, options)))
        return this.#concluded(notStarted(overBudget(over)), sums, taskId, writes, before);
      const { turns } = await changeTask(runsDir, taskId, (record) => ({
        ...record,
        turns: record.turns + 1,
      }));
      const questions = new TurnQuestions();
      const session = await this.#writeTurn({
        taskId,
        prompt,
        writes,
        planFile,
        budgetUsd: spending.leftUsd,
      });
      const totals = session === null ? {} : (readTask(runsDir, taskId).totals[session] ?? {});
      if (executor.reportsTotals) spending.continuesFrom(totals);
      let isPlaced = false;
      const tried = await work.attempt({
        ...options,
        number: turns,
        isResumed: session !== null,
        ...(model !== undefined && { model }),
        // A program that can read answers while it runs has read them by its end.
        ...(!hearsAnswers && { turn: questions }),
        putInPlace: (artifacts) => {
          isPlaced = true;
          this.#placeNewFiles();
          return artifacts.map((each) => this.#inPlace(each));
        },
      });
      if (!isPlaced) this.#placeNewFiles();
      await this.#keepSession(taskId, executor.reportsTotals && sumsOf(totals, tried.metrics));
      sums.add(tried);
      if (tried.outcome.code === 'E_BUDGET' && this.#asks && spending.over() !== undefined) {
        await options.questions.end();
        prompt = CONTINUE;
        continue;
      }
      const answers = await this.#answersTo(tried, questions, options);
      const isOver = !Array.isArray(answers) || answers.length === 0;
      const spent = isOver ? undefined : outOfTurns(count, settings);
      if (!isOver && spent === undefined) {
        await this.#emit(`task '${taskId}' continues with ${countOf(answers.length, 'answer')}`, {
          turn: turns + 1,
        });
        given.push(...answers);
        const goesOn = executor.name in readTask(runsDir, taskId).sessions;
        // A program without a conversation knows nothing of its earlier turns (seed 003).
        prompt = goesOn ? answersPrompt(answers) : `${first}\n\n${answersPrompt(given)}`;
        continue;
      }
      const outcome = spent ?? (Array.isArray(answers) ? tried.outcome : answers);
      return this.#concluded({ ...tried, outcome }, sums, taskId, writes, before);
    }
  }

  /** The input of the next turn; or the end of the run; or undefined when this turn was the last. */
  async #answersTo(
    tried: AttemptOutcome,
    questions: TurnQuestions,
    options: AttemptOptions,
  ): Promise<GivenAnswer[] | Outcome> {
    const { state, code } = tried.outcome;
    if (state === 'completed' || code === 'E_ACTION_REQUIRED')
      return questions.answers(options, this.#ground.writer.log, this.#ground.plan.limits);
    await options.questions.end();
    return tried.outcome;
  }

  get #asks(): boolean {
    return this.#ground.config.config.budget.on_cost_limit === 'ask';
  }

  /** Asks whether the task may cost as much again. The run waits for the answer. */
  async #mayGoOn(over: OverBudget, options: AttemptOptions): Promise<boolean> {
    if (!this.#asks) return false;
    const { plan, writer } = this.#ground;
    const questions = new TurnQuestions();
    const event = writer.log.append({
      type: 'action_required',
      ...questionForMore('task', over),
      blocking: true,
    });
    await writer.log.flush();
    questions.asked(event);
    const answers = await questions.answers(options, writer.log, plan.limits);
    const isAllowed = Array.isArray(answers) && answers[0]?.value === MORE;
    if (isAllowed) options.spending.raise();
    return isAllowed;
  }

  async #writeTurn({
    taskId,
    prompt,
    writes,
    planFile,
    budgetUsd,
  }: {
    taskId: string;
    prompt: string;
    writes: readonly string[];
    planFile: string | null;
    budgetUsd: number | null;
  }): Promise<string | null> {
    const { config, runsDir, plan } = this.#ground;
    const settings = config.config.task;
    const executor = executorOf(plan.name, settings);
    const { words } = await programOf(executor, config, plan.callerEnv);
    const session = readTask(runsDir, taskId).sessions[executor.name] ?? null;
    writeTurn(
      plan.workspace,
      executor,
      {
        program: words,
        taskId,
        prompt,
        instructions: instructionsFor({
          taskId,
          project: config.root,
          writes,
          newFiles: settings.writes === undefined ? join(plan.workspace.work, NEW_FILES) : null,
        }),
        session,
        plan: planFile,
        baseUrl: (executor.baseUrl !== null && plan.callerEnv[executor.baseUrl]) || null,
        model: modelOf(executor, settings),
        budgetUsd,
        isConfined: plan.isolation.enforced.includes('filesystem'),
        settings,
      },
      {
        root: config.root,
        home: homeOf(config, executor.name, plan.callerEnv),
        userHome: userHome(plan.callerEnv),
        writes,
        rates: await this.#ratesFor(executor),
        hasKey: executor.key !== null && plan.tool.manifest.secrets.includes(executor.key.secret),
      },
    );
    return session;
  }

  /** Files for the top of the project, which the executor could only make in its workspace. */
  #placeNewFiles(): void {
    const { config, plan, writer } = this.#ground;
    if (config.config.task.writes !== undefined) return;
    const { placed, refused } = placeNewFiles(
      plan.workspace,
      config.root,
      closedAtTop(config, plan.callerEnv),
    );
    for (const { path, why } of refused) {
      const msg = `the executor made a new file ${path}, which is not put in place: ${why}`;
      writer.log.append({ type: 'runner_warning', msg, path });
    }
    for (const name of placed) this.#placed.add(name);
  }

  #inPlace<Reported extends { path: string }>(file: Reported): Reported {
    const { config, plan } = this.#ground;
    return { ...file, path: placedPath(file.path, plan.workspace, config.root, this.#placed) };
  }

  /** The path of a claim relative to the project, as the changes on the disk have it. */
  #claimed(path: string): string {
    const { root } = this.#ground.config;
    return relative(root, this.#inPlace({ path: resolve(root, path) }).path);
  }

  /** For the executor that counts its own spending. */
  async #ratesFor(executor: Executor): Promise<Rates | null> {
    if (executor.name !== 'responses') return null;
    const { config } = this.#ground.config;
    const { Pricer } = await import('../cost/pricer.ts');
    const rates = new Pricer(config, { kind: 'task' }).ratesOf(modelOf(executor, config.task));
    if (rates === undefined) return null;
    const { input, output, cache_read, cache_write } = rates;
    return { input, output, cache_read, cache_write };
  }

  /** Even a failed turn may have started a conversation. */
  async #keepSession(taskId: string, totals: Metrics | false | undefined): Promise<void> {
    const { runsDir, plan, config } = this.#ground;
    const session = sessionLeftIn(plan.workspace);
    if (session === undefined) return;
    const { name } = executorOf(plan.name, config.config.task);
    await changeTask(runsDir, taskId, (record) => ({
      ...record,
      sessions: { ...record.sessions, [name]: session },
      ...(totals && { totals: { ...record.totals, [session]: totals } }),
    }));
  }

  /** Reports the results of all turns, and the files that changed on disk, whatever the executor reports. */
  async #concluded(
    tried: AttemptOutcome,
    sums: TurnSums,
    taskId: string,
    writes: readonly string[],
    before: ReturnType<typeof snapshotOf>,
  ): Promise<AttemptOutcome> {
    const { config } = this.#ground;
    const after = before === undefined ? undefined : snapshotOf(config.root, [...writes, ...this.#placed]);
    const files = before === undefined || after === undefined ? null : changesBetween(before, after);
    const { turns, metrics } = sums;
    await this.#emit(`task '${taskId}': ${countOf(turns, 'turn')}`, {
      task_id: taskId,
      turns,
      files,
      metrics,
    });
    const untrue =
      files === null
        ? []
        : sums.claims.filter((claim) => !files.some(({ path }) => path === this.#claimed(claim)));
    for (const path of untrue) {
      this.#ground.writer.log.append({
        type: 'runner_warning',
        code: 'E_PROTOCOL',
        msg: `the executor says that it has changed ${path}, and it has not changed`,
        path,
      });
    }
    return { ...tried, artifacts: sums.artifacts };
  }

  async #emit(msg: string, more: Record<string, unknown>): Promise<void> {
    const { log } = this.#ground.writer;
    log.append({ type: 'runner_log', level: 'info', msg, ...more });
    await log.flush();
  }
}

function argumentsOf({ args }: ToolPlan): { taskId: string; description: string; planFile: string | null } {
  const given = (flag: string) =>
    args.find((arg) => arg.startsWith(`--${flag}=`))?.slice(flag.length + 3) ?? null;
  const [taskId, description, planFile] = ['task-id', 'description', 'plan'].map(given);
  if (!taskId || !description) throw new AcorError('E_USAGE', 'a task needs an id and a description');
  return { taskId, description, planFile: planFile ?? null };
}

function outOfTurns(count: number, { max_iterations }: LoadedConfig['config']['task']): Outcome | undefined {
  return count >= max_iterations
    ? stopped('E_TOOL_FAILED', `the task has had its ${max_iterations} turns (task.max_iterations)`)
    : undefined;
}

function modelOf({ defaultModel }: Executor, { model }: TaskSettings): string | undefined {
  return model ?? defaultModel;
}

/** Adds the numbers in metrics. */
function sumsOf(one: Metrics, other: Metrics | null): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [name, value] of [...Object.entries(one), ...Object.entries(other ?? {})])
    if (typeof value === 'number') sums[name] = (sums[name] ?? 0) + value;
  return sums;
}

/** The results of all turns of a run. */
class TurnSums {
  turns = 0;
  metrics: Record<string, number> = {};
  /** Files that the executor reports as changed, when no adapter has compared them with the disk. */
  readonly claims: string[] = [];
  readonly #artifacts = new Map<string, MeasuredArtifact>();

  get artifacts(): MeasuredArtifact[] {
    return [...this.#artifacts.values()];
  }

  add({ result, artifacts, metrics }: AttemptOutcome): void {
    this.turns += 1;
    this.metrics = sumsOf(this.metrics, metrics);
    for (const artifact of artifacts) this.#artifacts.set(artifact.path, artifact);
    const files = (result?.['data'] as { files_modified?: unknown } | undefined)?.files_modified;
    if (Array.isArray(files)) this.claims.push(...files.filter((path) => typeof path === 'string'));
  }
}
