import type { OperationStep } from '../../../protocol/next-steps.ts';
import type { AnswerSource } from '../../../protocol/v1/wire.ts';

/** One choice of a question. */
export interface QuestionOption {
  id: string;
  label?: string;
  description?: string;
}

/** A question that a tool asked (contract §4). All of its text is untrusted. */
export interface Question {
  actionId: string;
  action: string;
  msg: string | undefined;
  context: Readonly<Record<string, unknown>>;
  options: readonly QuestionOption[] | undefined;
  /** JSON Schema of the answer. */
  schema: Readonly<Record<string, unknown>> | undefined;
  /** The answer that the runner uses after the timeout. */
  default: { value: unknown } | undefined;
  timeoutS: number | undefined;
  /** Who the tool wants to answer. */
  audience: 'ai' | 'user';
  /** Whether the run waits for the answer. */
  blocking: boolean;
  /** The child run that asked, and its action id there: the answer is sent to that run. */
  askedBy?: { runId: string; actionId: string };
}

/** An answer, and where it came from. */
export interface Answer {
  value: unknown;
  by: string;
  source: AnswerSource;
  reason?: string;
  /** The id by which the submitter finds the event that accepts or rejects the answer. */
  answerId?: string;
}

/** The most options that are offered as ready-made answer commands. */
const SHOWN_CHOICES = 5;

/** Reads a question from its event; fields of the wrong type are dropped. */
export function readQuestion(event: Readonly<Record<string, unknown>>): Question {
  const { msg, context, schema, options, timeout_s: timeoutS } = event;
  return {
    actionId: String(event.action_id),
    action: String(event.action),
    msg: typeof msg === 'string' ? msg : undefined,
    context: isRecord(context) ? context : {},
    options: Array.isArray(options) ? options.map(readOption) : undefined,
    schema: isRecord(schema) ? schema : undefined,
    default: 'default' in event ? { value: event.default } : undefined,
    timeoutS: typeof timeoutS === 'number' && timeoutS > 0 ? timeoutS : undefined,
    audience: event.audience === 'user' ? 'user' : 'ai',
    blocking: event.blocking === true,
  };
}

/** The steps that answer a question, one for each known answer; without any, one step with the placeholder `<JSON>`. */
export function answerSteps(runId: string, question: Question): OperationStep[] {
  const { actionId, options = [] } = question;
  const answers =
    options.length > 0
      ? options.slice(0, SHOWN_CHOICES).map(({ id }) => ({ choice: id }))
      : valuesToShow(question).map((value) => ({ value }));
  return answers.map((answer) => ({
    operation: 'run.answer',
    input: { run: runId, action_id: actionId, ...answer },
    why: 'Answer the question with this.',
  }));
}

function valuesToShow({ schema, default: fallback }: Question): string[] {
  if (schema?.type === 'boolean') return ['true', 'false'];
  if (Array.isArray(schema?.enum))
    return schema.enum.slice(0, SHOWN_CHOICES).map((value) => JSON.stringify(value));
  return [fallback === undefined ? '<JSON>' : JSON.stringify(fallback.value)];
}

function readOption(option: unknown): QuestionOption {
  const { id, label, description } = isRecord(option) ? option : {};
  return {
    id: String(id),
    ...(typeof label === 'string' && { label }),
    ...(typeof description === 'string' && { description }),
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
