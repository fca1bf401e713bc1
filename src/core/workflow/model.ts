import type { InputSpec } from '../../protocol/manifest-inputs.ts';
import type { OnError } from '../../protocol/workflow-file.ts';
import type { KeyPath } from '../config/yaml-file.ts';
import type { Template } from './expression/template.ts';

/** A workflow as the engine sees it: everything settled that the file left open. */
export interface Workflow {
  name: string;
  description: string | undefined;
  /** The real path of the file, and the SHA-256 of its text: a resumed workflow must be the one that was begun. */
  file: string;
  digest: string;
  inputs: readonly WorkflowInput[];
  steps: readonly Step[];
  /** Run one after the other when the others are over, however that came. */
  finally: readonly Step[];
  outputs: Readonly<Record<string, Template>>;
  timeoutS: number | undefined;
  maxConcurrency: number;
}

export type WorkflowInput = Pick<
  InputSpec,
  'name' | 'type' | 'required' | 'default' | 'description' | 'enum' | 'min' | 'max' | 'pattern' | 'secret'
>;

/** Where something stands in the file; both count from 1. */
export interface StepPlace {
  line: number;
  column: number;
}

export interface StepCommon {
  /** The task id of the step. */
  name: string;
  /** The keys that lead to it in the file. */
  path: KeyPath;
  description: string | undefined;
  /** The steps that must be over first; for one that names none, the step above it. */
  needs: readonly string[];
  /** Asked once, before the items of a `foreach`. */
  when: Template | undefined;
  foreach: Foreach | undefined;
  retry: StepRetry;
  onError: OnError;
  timeoutS: number | undefined;
  at: StepPlace;
}

export interface Foreach {
  /** Gives a list. */
  over: Template;
  maxItems: number;
  /** Items at once; undefined is as many as the workflow allows. */
  maxConcurrency: number | undefined;
}

/** Tries after the first one, for errors of these classes or codes. */
export interface StepRetry {
  max: number;
  on: readonly string[];
  backoffS: number;
}

/** What a step does, without when and how often. */
export type StepWork =
  | { kind: 'tool'; tool: string; args: StepArguments }
  | {
      kind: 'decision';
      action: string;
      instruction: Template | undefined;
      context: Template | undefined;
      options: readonly { id: string; label?: string | undefined; description?: string | undefined }[];
      schema: Record<string, unknown> | undefined;
      /** Undefined when there is none: `null` is an answer. */
      default: unknown;
    }
  | { kind: 'parallel'; tasks: readonly Task[]; maxConcurrency: number | undefined }
  /** `file` is absolute; for a name that no file has, where one would be. */
  | { kind: 'workflow'; file: string; inputs: Readonly<Record<string, Template>> }
  | { kind: 'pipe'; stages: readonly { tool: string; args: StepArguments }[] };

export type Step = StepCommon & StepWork;

/** One task of a parallel step; its task id is `<step>.<number or name>`. */
export type Task = Pick<StepCommon, 'name' | 'path' | 'retry' | 'onError' | 'timeoutS' | 'at'> &
  Exclude<StepWork, { kind: 'parallel' }>;

/** Arguments word by word, as the tool takes them, or by the names of its inputs. */
export type StepArguments =
  | { form: 'words'; words: readonly Template[] }
  | { form: 'named'; values: Readonly<Record<string, Template>> };

/** The inputs of a workflow as those of a tool, so that flags, checks and help are the same for both. */
export function inputSpecsOf({ inputs }: Pick<Workflow, 'inputs'>): InputSpec[] {
  return inputs.map((input) => ({ ...input, positional: false, multiple: false }));
}
