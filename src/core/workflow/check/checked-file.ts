import { nearestWords } from '../../../util/nearest.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { Problem } from '../../config/problem.ts';
import type { KeyPath } from '../../config/yaml-file.ts';
import type { ToolEntry } from '../../registry/tool-entry.ts';
import { type Expression, expressionsIn, type Template } from '../expression/expression.ts';
import type { ReadWorkflow } from '../file/read-workflow.ts';
import type { Step, StepArguments, StepCommon, StepWork, Task, Workflow } from '../model.ts';

/** A parsed workflow, ready to be checked against the project. */
export interface CheckedFile {
  workflow: Workflow;
  places: ReadWorkflow['places'];
}

/** What a workflow is checked against. */
export interface Surroundings {
  config: LoadedConfig;
  cwd: string;
  /** Real paths. Every grant must be inside one of them. */
  roots: readonly string[];
  tools: ReadonlyMap<string, ToolEntry>;
  /** All error codes, including those of the project. */
  codes: readonly string[];
}

/** One kind of check. */
export type Check = (file: CheckedFile, surroundings: Surroundings) => Problem[] | Promise<Problem[]>;

/**
 * Reports a problem at a value of the file. If the value is absent, at the first of `others` that exists, else at its
 * parent.
 */
export function problemAt(
  { workflow, places }: CheckedFile,
  { path, others = [] }: { path: KeyPath; others?: readonly KeyPath[] },
  { rule, message, fix, next }: Pick<Problem, 'rule' | 'message' | 'fix' | 'next'>,
): Problem {
  const holder = places.placeOf(path.slice(0, -1));
  const found = [path, ...others].map((each) => places.placeOf(each));
  const at = found.find(({ line, column }) => line !== holder.line || column !== holder.column) ?? holder;
  return { file: workflow.file, ...at, rule, message, fix, ...(next && { next }) };
}

export function allSteps({ steps, finally: last }: Workflow): Step[] {
  return [...steps, ...last];
}

/** The work of a step and of each of its tasks. */
export function worksOf(step: Step): (StepWork & Pick<StepCommon, 'path' | 'name'>)[] {
  const tasks: readonly Task[] = step.kind === 'parallel' ? step.tasks : [];
  return [step, ...tasks];
}

/** A tool that a workflow calls, and the place of the call. */
export interface ToolCall {
  tool: string;
  args: StepArguments;
  /** Place of the tool's name, or of the `command` that begins with it. */
  path: KeyPath;
  /** Place of the arguments. */
  argsPath: KeyPath;
  others: readonly KeyPath[];
  /** True for each stage of a pipe except the first. */
  readsRecords?: true;
}

/** The tools that a step calls: its own tool, those of its tasks, and the stages of a pipe. */
export function toolCallsOf(step: Step): ToolCall[] {
  return worksOf(step).flatMap((work): ToolCall[] => {
    if (work.kind === 'tool') {
      const { tool, args, path } = work;
      const others = [[...path, 'command'], path];
      return [{ tool, args, path: [...path, 'tool'], argsPath: [...path, 'args'], others }];
    }
    if (work.kind !== 'pipe') return [];
    return work.stages.map(({ tool, args }, index) => {
      const path = [...work.path, 'pipe', index];
      return {
        tool,
        args,
        path,
        argsPath: path,
        others: [],
        ...(index > 0 && { readsRecords: true as const }),
      };
    });
  });
}

/** Suggest a near word for at most this many mistakes of a file: each search compares all words. */
const MOST_SEARCHES = 20;

/** Finds the known word that is nearest to an unknown one. */
export function nearestOf(words: ReadonlySet<string>): (word: string) => string | undefined {
  const found = new Map<string, string | undefined>();
  return (word) => {
    if (!found.has(word) && found.size < MOST_SEARCHES) found.set(word, nearestWords(word, words, 1)[0]);
    return found.get(word);
  };
}

/** The expressions of a step. Those evaluated for each item may read `item` and `index`. */
export function expressionsOf(step: Step): { once: Expression[]; eachItem: Expression[] } {
  const once = [step.when, step.foreach?.over].filter((each) => each !== undefined);
  const work = worksOf(step).flatMap(templatesOf).flatMap(expressionsIn);
  const always = once.flatMap(expressionsIn);
  return step.foreach === undefined
    ? { once: [...always, ...work], eachItem: [] }
    : { once: always, eachItem: work };
}

function templatesOf(work: StepWork): Template[] {
  switch (work.kind) {
    case 'tool':
      return argumentTemplates(work.args);
    case 'pipe':
      return work.stages.flatMap(({ args }) => argumentTemplates(args));
    case 'decision':
      return [work.instruction, work.context].filter((each) => each !== undefined);
    case 'workflow':
      return Object.values(work.inputs);
    case 'parallel':
      return [];
  }
}

function argumentTemplates(args: StepArguments): Template[] {
  return args.form === 'words' ? [...args.words] : Object.values(args.values);
}
