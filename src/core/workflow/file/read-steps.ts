import { resolve } from 'node:path';
import type { OnError, ParallelTaskFile, WorkflowStepFile } from '../../../protocol/workflow-file.ts';
import { parallelTask } from '../../../protocol/workflow-file.ts';
import { checkFile } from '../../config/check-file.ts';
import type { Problem } from '../../config/problem.ts';
import type { KeyPath, YamlFile } from '../../config/yaml-file.ts';
import type { Template } from '../expression/template.ts';
import type { Step, StepArguments, StepCommon, Task, Work } from '../model.ts';
import { splitWords } from './split-words.ts';

/** What the parts of a file are read with. */
export interface FileReader {
  yaml: YamlFile;
  problems: Problem[];
  /** In which the file lies: paths to other workflows begin here. */
  folder: string;
  /** For steps that do not say it themselves. */
  onError: OnError;
  template(path: KeyPath, value: unknown): Template;
}

type StepFile = WorkflowStepFile | ParallelTaskFile;
type Kind = Work['kind'];

/** The keys that tell what a step does, and those that go with each. */
const KEYS: Record<Kind, { one: readonly (keyof StepFile)[]; further: readonly (keyof StepFile)[] }> = {
  tool: { one: ['tool', 'command'], further: ['args'] },
  decision: {
    one: ['decision_type'],
    further: ['instruction', 'context', 'options', 'schema', 'default'],
  },
  parallel: { one: ['tasks'], further: [] },
  workflow: { one: ['workflow'], further: ['inputs'] },
  pipe: { one: ['pipe'], further: [] },
};
const KIND_OF_TYPE = {
  tool: 'tool',
  ai_decision: 'decision',
  parallel: 'parallel',
  workflow: 'workflow',
  pipe: 'pipe',
} as const;

/** Settles a list of steps: who comes before whom, what each does. */
export function readSteps(
  reader: FileReader,
  steps: readonly WorkflowStepFile[],
  path: KeyPath,
  { inSequence }: { inSequence: boolean },
): Step[] {
  return steps.flatMap((step, index) => {
    const at = [...path, index];
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
    description: step.description,
    needs,
    when: step.when === undefined ? undefined : reader.template([...path, 'when'], step.when),
    foreach: over && { over, maxItems: step.max_items, maxConcurrency: step.max_concurrency },
    retry:
      step.retry === undefined
        ? { max: 0, on: ['retryable'], backoffS: 1 }
        : { max: step.retry.max, on: step.retry.on, backoffS: step.retry.backoff_s },
    onError: step.on_error ?? reader.onError,
    timeoutS: step.timeout_s,
    at: reader.yaml.placeOf(path),
  };
}

function readWork(reader: FileReader, step: StepFile, path: KeyPath): Work | undefined {
  const kind = kindOf(reader, step, path);
  switch (kind) {
    case undefined:
      return undefined;
    case 'tool':
      return readTool(reader, step, path);
    case 'decision':
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
      const inputs = Object.entries(step.inputs ?? {}).map(
        ([key, value]) => [key, reader.template([...path, 'inputs', key], value)] as const,
      );
      return { kind, file: resolve(reader.folder, step.workflow!), inputs: Object.fromEntries(inputs) };
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

/** A task is a command line, or a step without an order of its own. */
function readTask(
  reader: FileReader,
  task: string | Record<string, unknown>,
  index: number,
  path: KeyPath,
): Task[] {
  const at = reader.yaml.placeOf(path);
  const plain = {
    name: String(index),
    retry: { max: 0, on: ['retryable'], backoffS: 1 },
    onError: 'fail' as const,
  };
  if (typeof task === 'string') {
    const command = readCommand(reader, task, path);
    return command === undefined ? [] : [{ ...plain, timeoutS: undefined, at, kind: 'tool', ...command }];
  }
  const prefixed = { ...reader.yaml, placeOf: (inner: KeyPath) => reader.yaml.placeOf([...path, ...inner]) };
  const { data, problems } = checkFile(parallelTask, prefixed, task);
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
      message: 'a task of a parallel step has no needs, when, foreach or tasks of its own',
      fix: 'Make it a step of its own; steps with `needs: []` start together.',
    });
    return [];
  }
  const { retry, onError, timeoutS } = commonOf(reader, data, '', path, []);
  return [{ name: data.name ?? String(index), retry, onError, timeoutS, at, ...work }];
}

/** What a step does, by its keys; more than one thing, or nothing, is a mistake. */
function kindOf(reader: FileReader, step: StepFile, path: KeyPath): Kind | undefined {
  const kinds = (Object.keys(KEYS) as Kind[]).filter((kind) =>
    KEYS[kind].one.some((key) => step[key] !== undefined),
  );
  const named = step.type && KIND_OF_TYPE[step.type];
  const [kind, ...others] = kinds;
  if (kind === undefined || others.length > 0 || (named !== undefined && named !== kind)) {
    const wanted = (named === undefined ? (Object.keys(KEYS) as Kind[]) : [named]).flatMap(
      (each) => KEYS[each].one,
    );
    return mistake(
      reader,
      path,
      'what-a-step-does',
      `a step does one thing, told by one of: ${wanted.join(', ')}`,
    );
  }
  const { one, further } = KEYS[kind];
  const allowed: readonly string[] = [...one, ...further];
  const strangers = Object.values(KEYS)
    .flatMap((each) => [...each.one, ...each.further])
    .filter((key) => step[key] !== undefined && !allowed.includes(key));
  if (strangers.length === 0) return kind;
  return mistake(
    reader,
    [...path, strangers[0]!],
    'what-a-step-does',
    `'${strangers[0]}' does not go with '${one.find((key) => step[key] !== undefined)}'`,
  );
}

function readTool(reader: FileReader, step: StepFile, path: KeyPath): Work | undefined {
  if (step.command === undefined) {
    return { kind: 'tool', tool: step.tool!, args: readArguments(reader, step, path) };
  }
  if (step.tool !== undefined || step.args !== undefined) {
    return mistake(
      reader,
      [...path, 'command'],
      'what-a-step-does',
      "'command' holds the tool and its arguments; 'tool' and 'args' are the other way to write it",
    );
  }
  const command = readCommand(reader, step.command, [...path, 'command']);
  return command && { kind: 'tool', ...command };
}

function readArguments(reader: FileReader, { args }: StepFile, path: KeyPath): StepArguments {
  if (Array.isArray(args)) {
    return {
      form: 'words',
      words: args.map((word, index) => reader.template([...path, 'args', index], String(word))),
    };
  }
  const values = Object.entries(args ?? {}).map(
    ([key, value]) => [key, reader.template([...path, 'args', key], value)] as const,
  );
  return { form: 'named', values: Object.fromEntries(values) };
}

/** `tool --x 1`: the first word is the tool. An expression is one word, whatever it gives. */
function readCommand(
  reader: FileReader,
  line: string,
  path: KeyPath,
): { tool: string; args: StepArguments } | undefined {
  const words = splitWords(line);
  const [tool, ...rest] = words ?? [];
  if (words === undefined || tool === undefined) {
    return mistake(
      reader,
      path,
      'command',
      words === undefined ? 'a quote of the command is never closed' : 'the command is empty',
    );
  }
  return { tool, args: { form: 'words', words: rest.map((word) => reader.template(path, word)) } };
}

function mistake(reader: FileReader, path: KeyPath, rule: string, message: string): undefined {
  reader.problems.push({
    file: reader.yaml.file,
    ...reader.yaml.placeOf(path),
    rule,
    message,
    fix: 'See docs/workflows.md, "The file".',
  });
  return undefined;
}
