/** A parsed expression of a workflow file (CEL). */
export interface Expression {
  /** As it is written between the braces. */
  source: string;
  /** Where it stands in the file; both count from 1. */
  at: { line: number; column: number };
  /** What it reads of its surroundings, such as `['steps', 'fetch', 'data', 'rows']`. */
  references: readonly Reference[];
  /** Gives its value as JSON; throws E_WORKFLOW_INVALID with its place when it has none. */
  evaluate(scope: Scope): unknown;
}

/** A path that is read: names and constant indexes, as far as they are known before anything runs. */
export type Reference = readonly string[];

/** What expressions may read. Values are JSON. */
export interface Scope {
  inputs: Readonly<Record<string, unknown>>;
  steps: Readonly<Record<string, StepScope>>;
  workflow: { run_id: string; ok: boolean };
  /** Within a `foreach`. */
  item?: unknown;
  index?: number;
}

/** What is known of a step that is over. */
export interface StepScope {
  state: 'completed' | 'failed' | 'cancelled' | 'skipped';
  ok: boolean;
  code: string | null;
  run_id: string | null;
  /** The `data` of its result; for a `foreach` a list of those of its items, in their order. */
  data: unknown;
  /** Absolute paths: by the input that named them where there is one, else by their file name. */
  artifacts: Readonly<Record<string, string>>;
  /** Of a decision. */
  answer?: unknown;
  /** Of a `foreach` or `parallel`: how many there were, and how many of them failed. */
  count?: number;
  failed?: number;
}
