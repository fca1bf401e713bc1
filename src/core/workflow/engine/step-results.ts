import { basename } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { resumeWorkflow } from '../../../protocol/next-steps.ts';
import { readAnswerFile } from '../../run/answers/answer-files.ts';
import { summaryOf } from '../../run/summarise-run.ts';
import { allSteps, expressionsOf } from '../check/checked-file.ts';
import type { Expression, Reference, Scope, StepScope } from '../expression/expression.ts';
import type { Engine } from './engine.ts';
import type { TaskEnd } from './task-history.ts';
import { actionIdOf } from './task-id.ts';

/**
 * How a step ended, without its results. `runStep` creates it; the scheduler and the expressions of later steps read
 * it.
 */
export interface StepEnd {
  state: StepScope['state'];
  code: string | null;
  /** The step's tasks in order. A step with one task has a task of the step's own name. */
  taskIds: readonly string[];
  /** The step has items or tasks, so its result is a list. */
  isList: boolean;
  isDecision: boolean;
  /** The failed tasks. */
  failed: readonly string[];
  /** The first failure that ends the workflow. */
  fatal:
    | ({ taskId: string; code: string; message: string } & Pick<TaskEnd, 'refusal' | 'retryable'>)
    | undefined;
  /** It is unknown what one of the failed tasks did. */
  isUnknown: boolean;
}

/** The most tasks of a step whose answers are in the result of a workflow that declares no outputs, and the length of all such answers. */
const MOST_ANSWERS = 20;
const MOST_ANSWER_CHARS = 64_000;

/** The errors of a run that was removed, or whose files are gone. */
const GONE = ['E_RUN_NOT_FOUND', 'E_INTEGRITY'];

/**
 * The values that expressions may read. A step's result is stored only in the log of its run and is read when an
 * expression refers to it, so ten thousand items need no memory.
 */
export class StepResults {
  readonly #engine: Engine;
  readonly #ends = new Map<string, StepEnd>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  of(step: string): StepEnd | undefined {
    return this.#ends.get(step);
  }

  all(): Iterable<[string, StepEnd]> {
    return this.#ends;
  }

  add(step: string, end: StepEnd): void {
    this.#ends.set(step, end);
  }

  /** Reads the values that these expressions refer to, and returns the scope for each item. */
  async scopeFor(expressions: readonly Expression[]): Promise<(item?: Item) => Scope> {
    const references = expressions.flatMap((expression) => expression.references);
    const steps: Record<string, StepScope> = {};
    for (const [name, end] of this.#ends)
      steps[name] = await stepScope(this.#engine, end, (field) => refersTo(references, name, field)).catch(
        (error) => this.#refuseGone(name, error),
      );
    const { plan, writer } = this.#engine;
    return (item) => ({
      inputs: plan.inputs,
      steps,
      workflow: { run_id: writer.record.run_id, ok: this.#engine.isOk },
      ...item,
    });
  }

  /** A removed run has taken the result of its step with it. The step that is to run again needs results, too: the first one that is gone is named. */
  async #refuseGone(name: string, error: unknown): Promise<never> {
    if (!(error instanceof AcorError) || !GONE.includes(error.code)) throw error;
    const { plan, writer } = this.#engine;
    const { once, eachItem } = expressionsOf(allSteps(plan.workflow).find((step) => step.name === name)!);
    await this.scopeFor([...once, ...eachItem]);
    throw new AcorError(error.code, `the result of step '${name}' cannot be read: ${error.message}`, {
      hint: `Resume the workflow from step '${name}', which runs again with all steps that need it.`,
      next: [resumeWorkflow(writer.record.run_id, { from: name })],
    });
  }

  /**
   * What steps have answered, by their names; a list for a step with items or tasks. Left out: a step without an answer or whose run was removed, one
   * with more than `MOST_ANSWERS`, and an answer that would make all of them longer than `MOST_ANSWER_CHARS`. For them a workflow declares outputs.
   */
  async answersOf(names: readonly string[]): Promise<Record<string, unknown>> {
    const answers: Record<string, unknown> = {};
    let chars = 0;
    for (const name of names) {
      const end = this.#ends.get(name);
      if (end === undefined || end.taskIds.length > MOST_ANSWERS) continue;
      const scope = await stepScope(this.#engine, end, (field) => field === 'data').catch(() => undefined);
      const answer = end.isDecision ? scope?.answer : scope?.data;
      if ([answer].flat().every((each) => each == null)) continue;
      const length = JSON.stringify(answer).length;
      if (chars + length > MOST_ANSWER_CHARS) continue;
      chars += length;
      answers[name] = answer;
    }
    return answers;
  }
}

interface Item {
  item: unknown;
  index: number;
}

/** Whether an expression reads a field of a step, or the step as a whole. */
function refersTo(references: readonly Reference[], step: string, field: string): boolean {
  return references.some(
    ([root, name, read]) => root === 'steps' && name === step && (read === undefined || read === field),
  );
}

async function stepScope(
  engine: Engine,
  end: StepEnd,
  isRead: (field: string) => boolean,
): Promise<StepScope> {
  const { state, code, taskIds, isList, isDecision, failed } = end;
  const [only] = taskIds;
  const scope = {
    state,
    ok: state === 'completed',
    code,
    run_id: isList || only === undefined ? null : engine.history.of(only).childRunId,
    ...(isList && { count: taskIds.length, failed: failed.length }),
  } as StepScope;
  // A skipped step has no result. An expression can test for it with has().
  if (state === 'skipped') return scope;
  if (isDecision) {
    const answers = taskIds.map((id) => answerOf(engine, id));
    return { ...scope, answer: isList ? answers : answers[0] };
  }
  const data = isRead('data') ? await mapInTurn(taskIds, (id) => dataOf(engine, id)) : [];
  const artifacts = isRead('artifacts') ? await mapInTurn(taskIds, (id) => artifactsOf(engine, id)) : [];
  return { ...scope, data: isList ? data : (data[0] ?? null), artifacts: Object.assign({}, ...artifacts) };
}

/** Sequential: a step may have ten thousand tasks, each with a log to read. */
async function mapInTurn<T>(ids: readonly string[], read: (id: string) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (const id of ids) results.push(await read(id));
  return results;
}

function answerOf({ history, plan }: Engine, taskId: string): unknown {
  const answer = readAnswerFile(plan.workspace, actionIdOf(taskId, undefined, history.of(taskId).tries));
  return answer?.value ?? null;
}

async function dataOf({ history, services }: Engine, taskId: string): Promise<unknown> {
  const { childRunId, done } = history.of(taskId);
  if (childRunId === null || done?.status !== 'ok') return null;
  return (await summaryOf(services, childRunId, await services.store.read(childRunId))).result?.data ?? null;
}

/** By the name of the input that contained the path, else by the file name. */
async function artifactsOf({ history, services }: Engine, taskId: string): Promise<Record<string, string>> {
  const { childRunId } = history.of(taskId);
  if (childRunId === null) return {};
  const record = await services.store.read(childRunId);
  const { artifacts } = await summaryOf(services, childRunId, record);
  const named: Record<string, string> = {};
  const inputs = record.staged.map((staged) => staged.split('/', 2) as [string, string]);
  for (const { path } of artifacts) {
    const name = basename(path);
    named[name] = path;
    for (const [input, staged] of inputs) if (staged === name) named[input] = path;
  }
  return named;
}
