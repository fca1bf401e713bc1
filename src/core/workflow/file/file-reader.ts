import type { OnError, ParallelTaskFile, WorkflowStepFile } from '../../../protocol/workflow-file.ts';
import type { Problem } from '../../config/problem.ts';
import type { KeyPath, YamlFile } from '../../config/yaml-file.ts';
import type { Template } from '../expression/expression.ts';
import type { TemplatePart } from '../expression/split-template.ts';

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

/** Reports a problem whose fix refers to docs/workflows.md. */
export function mistake(reader: FileReader, path: KeyPath, rule: string, message: string): undefined {
  reader.problems.push({
    file: reader.yaml.file,
    ...reader.yaml.placeOf(path),
    rule,
    message,
    fix: 'See docs/workflows.md, "The file".',
  });
  return undefined;
}
