import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { countOf } from '../../util/count-of.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { RunStore, RunWriter } from '../ports/run-store.ts';
import { failureOf, type Outcome, stopped } from '../run/outcome.ts';
import type { ToolPlan } from '../run/plan/tool-plan.ts';
import {
  type AttemptOptions,
  type AttemptOutcome,
  notStarted,
  type RunExecutor,
} from '../run/run-executor.ts';
import type { MeasuredArtifact } from '../store-files/artifacts.ts';
import { changesBetween, snapshotOf } from './changed-files.ts';
import { homeOf, programOf, userHome, writesOf } from './executor-tool.ts';
import { executorOf } from './executors.ts';
import { answersPrompt, instructionsFor, resumePrompt, taskPrompt } from './prompt.ts';
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
    const hearsAnswers = plan.tool.adapter === 'jsonl';
    const writes = writesOf(config, plan.callerEnv);
    const before = snapshotOf(config.root, writes);
    const sums = new TurnSums(executorOf(plan.name, settings));
    const first = taskPrompt(taskId, description, planFile);
    let prompt = options.isResumed ? resumePrompt(first, await answersGiven(store, plan.runId)) : first;
    for (let count = 1; ; count++) {
      const { turns } = await changeTask(runsDir, taskId, (record) => ({
        ...record,
        turns: record.turns + 1,
      }));
      const questions = new TurnQuestions();
      const session = await this.#writeTurn(taskId, prompt, writes, planFile);
      const tried = await work.attempt({
        ...options,
        number: turns,
        isResumed: session !== null,
        // A program that can read answers while it runs has read them by its end.
        ...(!hearsAnswers && { turn: questions }),
      });
      await this.#keepSession(taskId);
      sums.add(tried);
      const answers = await this.#answersTo(tried, questions, options);
      const isOver = !Array.isArray(answers) || answers.length === 0;
      const spent = isOver ? undefined : overspent(sums, count, settings);
      if (!isOver && spent === undefined) {
        await this.#emit(`task '${taskId}' continues with ${countOf(answers.length, 'answer')}`, {
          turn: turns + 1,
        });
        prompt = answersPrompt(answers);
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

  async #writeTurn(
    taskId: string,
    prompt: string,
    writes: readonly string[],
    planFile: string | null,
  ): Promise<string | null> {
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
        instructions: instructionsFor({ taskId, project: config.root, writes }),
        session,
        plan: planFile,
        baseUrl: (executor.baseUrl !== null && plan.callerEnv[executor.baseUrl]) || null,
        isConfined: plan.isolation.enforced.includes('filesystem'),
        settings,
      },
      {
        root: config.root,
        home: homeOf(config, executor.name, plan.callerEnv),
        userHome: userHome(plan.callerEnv),
        writes,
        hasKey: executor.key !== null && plan.tool.manifest.secrets.includes(executor.key.secret),
      },
    );
    return session;
  }

  /** Even a failed turn may have started a conversation. */
  async #keepSession(taskId: string): Promise<void> {
    const { runsDir, plan, config } = this.#ground;
    const session = sessionLeftIn(plan.workspace);
    if (session === undefined) return;
    const { name } = executorOf(plan.name, config.config.task);
    await changeTask(runsDir, taskId, (record) => ({
      ...record,
      sessions: { ...record.sessions, [name]: session },
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
    const after = before === undefined ? undefined : snapshotOf(config.root, writes);
    const files = before === undefined || after === undefined ? null : changesBetween(before, after);
    const { turns, metrics } = sums;
    await this.#emit(`task '${taskId}': ${countOf(turns, 'turn')}`, {
      task_id: taskId,
      turns,
      files,
      metrics,
    });
    const untrue =
      files === null ? [] : sums.claims.filter((path) => !files.some((file) => file.path === path));
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

function overspent(
  { metrics }: TurnSums,
  count: number,
  { max_iterations, max_cost_usd }: LoadedConfig['config']['task'],
): Outcome | undefined {
  if (count >= max_iterations)
    return stopped('E_TOOL_FAILED', `the task has had its ${max_iterations} turns (task.max_iterations)`);
  const cost = metrics['cost_usd'] ?? 0;
  return max_cost_usd !== undefined && cost >= max_cost_usd
    ? stopped('E_TOOL_FAILED', `the task has cost ${cost} USD; task.max_cost_usd is ${max_cost_usd}`)
    : undefined;
}

/** The results of all turns of a run. */
class TurnSums {
  turns = 0;
  readonly metrics: Record<string, number> = {};
  /** Files that the executor reports as changed, when no adapter has compared them with the disk. */
  readonly claims: string[] = [];
  readonly #reportsTotals: boolean;
  readonly #artifacts = new Map<string, MeasuredArtifact>();

  constructor({ reportsTotals = false }: { reportsTotals?: boolean }) {
    this.#reportsTotals = reportsTotals;
  }

  get artifacts(): MeasuredArtifact[] {
    return [...this.#artifacts.values()];
  }

  add({ result, artifacts }: AttemptOutcome): void {
    this.turns += 1;
    for (const artifact of artifacts) this.#artifacts.set(artifact.path, artifact);
    for (const [name, value] of Object.entries(result?.['metrics'] ?? {}))
      if (typeof value === 'number')
        this.metrics[name] = this.#reportsTotals ? value : (this.metrics[name] ?? 0) + value;
    const files = (result?.['data'] as { files_modified?: unknown } | undefined)?.files_modified;
    if (Array.isArray(files)) this.claims.push(...files.filter((path) => typeof path === 'string'));
  }
}
