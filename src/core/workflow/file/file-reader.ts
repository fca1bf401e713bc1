import type { OnError, ParallelTaskFile, WorkflowStepFile } from '../../../protocol/workflow-file.ts';
import type { Problem } from '../../config/problem.ts';
import type { KeyPath, YamlFile } from '../../config/yaml-file.ts';
import type { TemplatePart } from '../expression/split-template.ts';
import type { Template } from '../expression/template.ts';

/** A step or a task as it is written. */
export type StepFile = WorkflowStepFile | ParallelTaskFile;

/** What the parts of a file are read with. */
export interface FileReader {
  yaml: YamlFile;
  problems: Problem[];
  /** Where other workflows are looked for by name: the folder of the file, then those of the project. Paths begin at the first. */
  folders: readonly string[];
  /** For steps that do not say it themselves. */
  onError: OnError;
  template(path: KeyPath, value: unknown): Template;
  /** A word of a command. */
  word(path: KeyPath, pieces: readonly TemplatePart[]): Template;
}

/** Tells a mistake that the page on workflows explains. */
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
