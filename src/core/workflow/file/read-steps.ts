import { relative } from 'node:path';
import { DEFAULT_MAX_ITEMS, parallelTask, type WorkflowStepFile } from '../../../protocol/workflow-file.ts';
import { checkFile } from '../../config/check-file.ts';
import { inexactNumbers } from '../../config/inexact-numbers.ts';
import type { KeyPath, YamlFile } from '../../config/yaml-file.ts';
import type { Step, StepCommon, StepWork, Task } from '../model.ts';
import { ambiguous, findSubWorkflow } from './find-workflow.ts';
import { readCommand, readTool } from './read-command.ts';
import { type FileReader, kindOf, mistake, reportKeysWithoutUse, type StepFile } from './step-file.ts';

const NO_RETRY = { max: 0, on: ['retryable'], backoffS: 1 };

/** Reads a list of steps: their order and their work. */
export function readSteps(
  reader: FileReader,
  steps: readonly WorkflowStepFile[],
  path: KeyPath,
  { inSequence }: { inSequence: boolean },
): Step[] {
  return steps.flatMap((step, index) => {
    const at = [...path, index];
    reportKeysWithoutUse(reader, step, at);
    const work = readWork(reader, step, at);
    const before = inSequence && index > 0 ? [steps[index - 1]!.name] : [];
    return work === undefined
      ? []
      : [{ ...commonOf(reader, step, step.name, at, step.needs ?? before), ...work }];
  });
}

function commonOf(
  reader: FileReader,
  step: StepFile,
  name: string,
  path: KeyPath,
  needs: readonly string[],
): StepCommon {
  const over = step.foreach === undefined ? undefined : reader.template([...path, 'foreach'], step.foreach);
  return {
    name,
    path,
    description: step.description,
    needs,
    when: step.when === undefined ? undefined : reader.template([...path, 'when'], step.when),
    foreach: over && {
      over,
      maxItems: step.max_items ?? DEFAULT_MAX_ITEMS,
      maxConcurrency: step.max_concurrency,
    },
    retry:
      step.retry === undefined
        ? NO_RETRY
        : { max: step.retry.max, on: step.retry.on, backoffS: step.retry.backoff_s },
    onError: step.on_error ?? reader.onError,
    timeoutS: step.timeout_s,
    at: reader.yaml.placeOf(path),
  };
}

function readWork(reader: FileReader, step: StepFile, path: KeyPath): StepWork | undefined {
  const kind = kindOf(reader, step, path);
  switch (kind) {
    case undefined:
      return undefined;
    case 'tool':
      return readTool(reader, step, path);
    case 'decision':
      reader.problems.push(...inexactNumbers(reader.yaml, [...path, 'default'], step.default));
      return {
        kind,
        action: step.decision_type!,
        instruction:
          step.instruction === undefined
            ? undefined
            : reader.template([...path, 'instruction'], step.instruction),
        context: step.context === undefined ? undefined : reader.template([...path, 'context'], step.context),
        options: step.options ?? [],
        schema: step.schema,
        default: step.default,
      };
    case 'parallel':
      return {
        kind,
        tasks: step.tasks!.flatMap((task, index) => readTask(reader, task, index, [...path, 'tasks', index])),
        maxConcurrency: step.max_concurrency,
      };
    case 'workflow': {
      const file = subWorkflowFile(reader, step.workflow!, path);
      if (file === undefined) return undefined;
      const inputs = Object.entries(step.inputs ?? {}).map(
        ([key, value]) => [key, reader.template([...path, 'inputs', key], value)] as const,
      );
      return { kind, file, inputs: Object.fromEntries(inputs) };
    }
    case 'pipe': {
      const stages = step.pipe!.flatMap((line, index) => {
        const command = readCommand(reader, line, [...path, 'pipe', index]);
        return command === undefined ? [] : [command];
      });
      return { kind, stages };
    }
  }
}

function subWorkflowFile(reader: FileReader, wanted: string, path: KeyPath): string | undefined {
  const files = findSubWorkflow(wanted, reader.folders);
  if (files.length === 1) return files[0];
  const paths = files.map((each) => relative(reader.folders[0]!, each));
  return mistake(reader, [...path, 'workflow'], 'workflow-name', {
    message: ambiguous(wanted, files),
    fix: `Write the path of the one that you mean: ${paths.join(' or ')}.`,
  });
}

/** A task is a command line, or a step without `needs` or `when`. */
function readTask(
  reader: FileReader,
  task: string | Record<string, unknown>,
  index: number,
  path: KeyPath,
): Task[] {
  const at = reader.yaml.placeOf(path);
  const plain = {
    name: String(index),
    retry: NO_RETRY,
    // The `on_error` of the step decides what a task's failure means.
    onError: 'fail' as const,
  };
  if (typeof task === 'string') {
    const command = readCommand(reader, task, path);
    return command === undefined
      ? []
      : [{ ...plain, path, timeoutS: undefined, at, kind: 'tool', ...command }];
  }
  const { data, problems } = checkFile(parallelTask, below(reader.yaml, path), task);
  reader.problems.push(...problems);
  if (data === undefined) return [];
  const work = readWork(reader, data, path);
  if (work === undefined) return [];
  if (
    work.kind === 'parallel' ||
    data.foreach !== undefined ||
    data.when !== undefined ||
    data.needs !== undefined
  ) {
    reader.problems.push({
      file: reader.yaml.file,
      ...at,
      rule: 'task-is-no-step',
      message: 'a task of a parallel step cannot have needs, when, foreach or tasks',
      fix: 'Make it a separate step; steps with `needs: []` start together.',
    });
    return [];
  }
  const { retry, onError, timeoutS } = commonOf({ ...reader, onError: 'fail' }, data, '', path, []);
  return [{ name: data.name ?? String(index), path, retry, onError, timeoutS, at, ...work }];
}

/** A part of a file, with its location in the whole file. */
function below(yaml: YamlFile, path: KeyPath): YamlFile {
  return {
    ...yaml,
    placeOf: (inner) => yaml.placeOf([...path, ...inner]),
    placeOfKey: (inner, key) => yaml.placeOfKey([...path, ...inner], key),
    sourceOf: (inner) => yaml.sourceOf([...path, ...inner]),
  };
}
