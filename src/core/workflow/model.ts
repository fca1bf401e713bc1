import type { InputSpec } from '../../protocol/manifest-inputs.ts';
import type { OnError } from '../../protocol/workflow-file.ts';
import type { KeyPath } from '../config/yaml-file.ts';
import type { Template } from './expression/expression.ts';

/** A workflow as the engine reads it, with all defaults applied. */
export interface Workflow {
  name: string;
  description: string | undefined;
  /** The real path of the file, and the SHA-256 of its text: a resume requires the same text. */
  file: string;
  digest: string;
  inputs: readonly WorkflowInput[];
  steps: readonly Step[];
  /** Steps that run in sequence after the others have ended, whatever their outcome. */
  finally: readonly Step[];
  outputs: Readonly<Record<string, Template>>;
  timeoutS: number | undefined;
  maxConcurrency: number;
}

export type WorkflowInput = Pick<
  InputSpec,
  'name' | 'type' | 'required' | 'default' | 'description' | 'enum' | 'min' | 'max' | 'pattern' | 'secret'
>;

/** A place in the file, counted from 1. */
export interface StepPlace {
  line: number;
  column: number;
}

export interface StepCommon {
  /** The task id of the step. */
  name: string;
  /** The keys that lead to the step in the file. */
  path: KeyPath;
  description: string | undefined;
  /** The steps that must end first. A step without `needs` needs the step above it. */
  needs: readonly string[];
  /** Evaluated once, before the items of a `foreach`. */
  when: Template | undefined;
  foreach: Foreach | undefined;
  retry: StepRetry;
  onError: OnError;
  timeoutS: number | undefined;
  at: StepPlace;
}

export interface Foreach {
  /** Evaluates to a list. */
  over: Template;
  maxItems: number;
  /** Concurrent items; undefined means the limit of the workflow. */
  maxConcurrency: number | undefined;
}

/** Retries after the first try, for errors of these classes or codes. */
export interface StepRetry {
  max: number;
  on: readonly string[];
  backoffS: number;
}

/** The work of a step, without its order and retries. */
export type StepWork =
  | { kind: 'tool'; tool: string; args: StepArguments }
  | {
      kind: 'decision';
      action: string;
      instruction: Template | undefined;
      context: Template | undefined;
      options: readonly { id: string; label?: string | undefined; description?: string | undefined }[];
      schema: Record<string, unknown> | undefined;
      /** Undefined for no default: `null` is a valid answer. */
      default: unknown;
    }
  | { kind: 'parallel'; tasks: readonly Task[]; maxConcurrency: number | undefined }
  /** `file` is absolute. For a name that no file has, it is where the file would be. */
  | { kind: 'workflow'; file: string; inputs: Readonly<Record<string, Template>> }
  | { kind: 'pipe'; stages: readonly { tool: string; args: StepArguments }[] };

export type Step = StepCommon & StepWork;

/** One task of a parallel step. Its task id is `<step>.<number or name>`. */
export type Task = Pick<StepCommon, 'name' | 'path' | 'retry' | 'onError' | 'timeoutS' | 'at'> &
  Exclude<StepWork, { kind: 'parallel' }>;

/** Arguments as words for the tool, or as values by input name. */
export type StepArguments =
  | { form: 'words'; words: readonly Template[] }
  | { form: 'named'; values: Readonly<Record<string, Template>> };

/** The workflow's inputs as input specs of a tool, so flags, checks and help work the same way. */
export function inputSpecsOf({ inputs }: Pick<Workflow, 'inputs'>): InputSpec[] {
  return inputs.map((input) => ({ ...input, positional: false, multiple: false }));
}
