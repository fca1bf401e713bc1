import { shellCommand } from '../../../util/shell-quote.ts';

/** A question that a tool has asked, as far as the runner needs to know it (contract §4). */
export interface Question {
  actionId: string;
  action: string;
  /** Ids of the options, if there are any. */
  options: readonly string[] | undefined;
  /** JSON Schema of the answer. */
  schema: Readonly<Record<string, unknown>> | undefined;
  default: { value: unknown } | undefined;
  timeoutS: number | undefined;
  blocking: boolean;
}

/** An answer, and where it came from. */
export interface Answer {
  value: unknown;
  by: string;
  source: 'command' | 'beforehand' | 'policy' | 'default' | 'library';
  reason?: string;
  /** The id under which whoever gave it waits for word of it. */
  answerId?: string;
}

/** Reads a question out of its event; fields that do not hold are left out. */
export function readQuestion(event: Readonly<Record<string, unknown>>): Question {
  const { schema, options, timeout_s: timeoutS } = event;
  return {
    actionId: String(event.action_id),
    action: String(event.action),
    options: Array.isArray(options) ? options.map((option) => String(option?.id)) : undefined,
    schema: typeof schema === 'object' && schema !== null ? (schema as Record<string, unknown>) : undefined,
    default: 'default' in event ? { value: event.default } : undefined,
    timeoutS: typeof timeoutS === 'number' && timeoutS > 0 ? timeoutS : undefined,
    blocking: event.blocking === true,
  };
}

/** The exact commands that answer a question. */
export function answerCommands(runId: string, { actionId, options, default: fallback }: Question): string[] {
  const answer = ['acor', 'answer', runId, actionId];
  if (options !== undefined && options.length > 0) {
    return options.slice(0, 5).map((option) => shellCommand([...answer, '--choice', option]));
  }
  return [shellCommand([...answer, '--value', JSON.stringify(fallback?.value ?? null)])];
}
