import type { OperationStep } from '../../../protocol/next-step.ts';
import type { AnswerSource } from '../../../protocol/v1/wire.ts';

/** One choice of a question. */
export interface QuestionOption {
  id: string;
  label?: string;
  description?: string;
}

/** A question that a tool has asked (contract §4). Every text in it is a stranger's. */
export interface Question {
  actionId: string;
  action: string;
  msg: string | undefined;
  context: Readonly<Record<string, unknown>>;
  options: readonly QuestionOption[] | undefined;
  /** JSON Schema of the answer. */
  schema: Readonly<Record<string, unknown>> | undefined;
  /** What holds when nobody answers in time. */
  default: { value: unknown } | undefined;
  timeoutS: number | undefined;
  /** Whom the tool would like to hear. */
  audience: 'ai' | 'user';
  /** Whether the run waits for the answer. */
  blocking: boolean;
  /** Who has asked, and under which id, where that is a child of the run: it is answered there. */
  askedBy?: { runId: string; actionId: string };
}

/** An answer, and where it came from. */
export interface Answer {
  value: unknown;
  by: string;
  source: AnswerSource;
  reason?: string;
  /** The id under which whoever gave it waits for word of it. */
  answerId?: string;
}

/** How many of the options the commands that answer name. */
const SHOWN_CHOICES = 5;

/** Reads a question out of its event; fields that do not hold are left out. */
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

/** The steps that answer a question, one for each answer that is known; else `<JSON>` marks the place of the answer. */
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
