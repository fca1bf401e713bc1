import type { LoadedConfig } from '../../config/load.ts';
import type { Problem } from '../../config/problem.ts';
import type { KeyPath } from '../../config/yaml-file.ts';
import type { ToolEntry } from '../../registry/tool-entry.ts';
import type { ReadWorkflow } from '../file/read-workflow.ts';
import type { Step, StepArguments, StepCommon, StepWork, Task, Workflow } from '../model.ts';

/** A workflow that was read, to be held against what there is around it. */
export interface CheckedFile {
  workflow: Workflow;
  places: ReadWorkflow['places'];
}

/** What a workflow is held against. */
export interface Surroundings {
  config: LoadedConfig;
  cwd: string;
  /** Real paths: what is granted must lie under one of them. */
  roots: readonly string[];
  tools: ReadonlyMap<string, ToolEntry>;
  /** All error codes, those of the project included. */
  codes: readonly string[];
}

/** One kind of check. */
export type Check = (file: CheckedFile, surroundings: Surroundings) => Problem[] | Promise<Problem[]>;

/** A mistake at a value of the file; where it is not there, at the next of the `others`, else at what would hold it. */
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

/** What a step does, and what each of its tasks does. */
export function worksOf(step: Step): (StepWork & Pick<StepCommon, 'path' | 'name'>)[] {
  const tasks: readonly Task[] = step.kind === 'parallel' ? step.tasks : [];
  return [step, ...tasks];
}

/** A tool that a workflow calls, and where it says so. */
export interface ToolCall {
  tool: string;
  args: StepArguments;
  /** Of the tool's name; where there is none, of the command that begins with it. */
  path: KeyPath;
  /** Of the arguments. */
  argsPath: KeyPath;
  others: readonly KeyPath[];
  /** Set for the stages of a pipe that stand behind another one. */
  readsRecords?: true;
}

/** The tools that a step calls: its own, those of its tasks, the stages of a pipe. */
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
