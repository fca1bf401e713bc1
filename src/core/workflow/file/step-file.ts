import type { OnError, ParallelTaskFile, WorkflowStepFile } from '../../../protocol/workflow-file.ts';
import type { Problem } from '../../config/problem.ts';
import type { KeyPath, YamlFile } from '../../config/yaml-file.ts';
import type { Template } from '../expression/expression.ts';
import type { TemplatePart } from '../expression/parse-template.ts';
import type { StepWork } from '../model.ts';

type Kind = StepWork['kind'];

/** The keys that select the kind of a step, and the further keys that each kind accepts. */
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

/** The kind of a step, from its keys. Exactly one kind is allowed. */
export function kindOf(reader: FileReader, step: StepFile, path: KeyPath): Kind | undefined {
  const kinds = (Object.keys(KEYS) as Kind[]).filter((kind) =>
    KEYS[kind].one.some((key) => step[key] !== undefined),
  );
  const named = step.type && KIND_OF_TYPE[step.type];
  const [kind, ...others] = kinds;
  if (kind === undefined || others.length > 0 || (named !== undefined && named !== kind)) {
    const wanted = (named === undefined ? (Object.keys(KEYS) as Kind[]) : [named]).flatMap(
      (each) => KEYS[each].one,
    );
    return mistake(reader, path, 'what-a-step-does', {
      message:
        named !== undefined && wanted.length === 1
          ? `a step of type ${step.type} must have '${wanted[0]}', and no other work`
          : `a step must have exactly one of: ${wanted.join(', ')}`,
      fix:
        kinds.length > 1
          ? 'Keep one of them, and make a step of each other one.'
          : `Add ${wanted.length === 1 ? `'${wanted[0]}'` : `one of them, such as ${wanted[0]}`}.`,
    });
  }
  const { one, further } = KEYS[kind];
  const allowed: readonly string[] = [...one, ...further];
  const foreign = Object.values(KEYS)
    .flatMap((each) => [...each.one, ...each.further])
    .filter((key) => step[key] !== undefined && !allowed.includes(key));
  if (foreign.length === 0) return kind;
  return mistake(reader, [...path, foreign[0]!], 'what-a-step-does', {
    message: `'${foreign[0]}' cannot be combined with '${one.find((key) => step[key] !== undefined)}'`,
    fix: `Remove '${foreign[0]}', or move it to another step.`,
  });
}

/** Reports keys that only apply to a `foreach`. */
export function reportKeysWithoutUse(reader: FileReader, step: StepFile, path: KeyPath): void {
  const isLoop = step.foreach !== undefined;
  const useless =
    step.max_items !== undefined && !isLoop
      ? 'max_items'
      : step.max_concurrency !== undefined && !isLoop && step.tasks === undefined
        ? 'max_concurrency'
        : undefined;
  if (useless === undefined) return;
  reader.problems.push({
    file: reader.yaml.file,
    ...reader.yaml.placeOfKey(path, useless),
    rule: 'key-without-use',
    message: `'${useless}' says how to run a foreach${useless === 'max_items' ? '' : ' or tasks'}, but the step has none`,
    fix: `Remove '${useless}', or add a foreach to the step.`,
  });
}

/** A step or a task as the file has it. */
export type StepFile = WorkflowStepFile | ParallelTaskFile;

/** What the readers of the parts of a file share. */
export interface FileReader {
  yaml: YamlFile;
  problems: Problem[];
  /**
   * The folders to search for other workflows by name: the folder of the file, then the project's folders. Paths are
   * relative to the first.
   */
  folders: readonly string[];
  /** Defaults for steps that do not set them. */
  onError: OnError;
  template(path: KeyPath, value: unknown): Template;
  /** A word of a command. */
  word(path: KeyPath, pieces: readonly TemplatePart[]): Template;
}

/** Reports a problem of a step at this place. */
export function mistake(
  reader: FileReader,
  path: KeyPath,
  rule: string,
  { message, fix }: Pick<Problem, 'message' | 'fix'>,
): undefined {
  reader.problems.push({
    file: reader.yaml.file,
    ...reader.yaml.placeOf(path),
    rule,
    message,
    fix,
  });
  return undefined;
}
