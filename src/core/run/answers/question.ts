import { AcorError } from '../../../protocol/acor-error.ts';
import type { OperationStep } from '../../../protocol/next-steps.ts';
import { type AnswerSource, type Audience, audienceOf } from '../../../protocol/v1/wire.ts';
import { errorMessage } from '../../../util/error-code.ts';
import {
  exactJson,
  inexactNumber,
  isTooDeep,
  lossOfNumber,
  parseExact,
  TOO_DEEP,
} from '../../../util/exact-json.ts';

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
  /** The step of a workflow that asks, by its name: an id cannot hold each name. */
  step?: string;
  msg: string | undefined;
  context: Readonly<Record<string, unknown>>;
  options: readonly QuestionOption[] | undefined;
  /** JSON Schema of the answer. */
  schema: Readonly<Record<string, unknown>> | undefined;
  /** The answer that the runner uses after the timeout. */
  default: { value: unknown } | undefined;
  timeoutS: number | undefined;
  /** Who the tool wants to answer. */
  audience: Audience;
  /** Whether the run waits for the answer. */
  blocking: boolean;
  /** The child run that asked, and its action id there: the answer is sent to that run. */
  askedBy?: { runId: string; actionId: string };
}

/** Returns the answer to a question, and who gives it; without one the question stays open. */
export type AnswerHandler = (
  question: Question,
) => Promise<{ value: unknown; by: string } | undefined> | undefined;

/** An answer, and where it came from. */
export interface Answer {
  value: unknown;
  by: string;
  source: AnswerSource;
  reason?: string;
  /** The id by which the submitter finds the event that accepts or rejects the answer. */
  answerId?: string;
}

/** The ids of the runner's own questions. A tool's id that begins so is replaced. */
const RUNNERS_ID = /^acor-/;

/** Whether the runner asks, and not the tool: the tool gets no answer. */
export function isRunnersQuestion(actionId: string): boolean {
  return RUNNERS_ID.test(actionId);
}

/** The most options that are offered as ready-made answer commands. */
const SHOWN_CHOICES = 20;
/** The longest answer that is offered so: a reader can write a longer one from the question. */
const SHOWN_CHARS = 1_000;

/** Reads a question from its event; fields of the wrong type are dropped. */
export function readQuestion(event: Readonly<Record<string, unknown>>): Question {
  const { msg, context, schema, options, timeout_s: timeoutS } = event;
  return {
    actionId: String(event.action_id),
    action: String(event.action),
    ...(typeof event.step === 'string' && { step: event.step }),
    msg: typeof msg === 'string' ? msg : undefined,
    context: isRecord(context) ? context : {},
    options: Array.isArray(options) ? options.map(readOption) : undefined,
    schema: isRecord(schema) ? schema : undefined,
    default: 'default' in event ? { value: event.default } : undefined,
    timeoutS: typeof timeoutS === 'number' && timeoutS > 0 ? timeoutS : undefined,
    audience: audienceOf(event.audience),
    blocking: event.blocking === true,
  };
}

/** What a question may be called by. */
export type QuestionNames = Pick<Question, 'actionId' | 'action' | 'step'>;

/** Whether an answer that is for `name` is for this question. */
export function isNamed({ actionId, action, step }: QuestionNames, name: string): boolean {
  return name === actionId || name === action || name === step;
}

/** The steps that answer a question, one for each of the first known answers; none where only the caller knows a valid one. */
export function answerSteps(runId: string, question: Question): OperationStep[] {
  const { actionId, options = [] } = question;
  const answers =
    options.length > 0
      ? short(options.map(({ id }) => id)).map((id) => ({ choice: id }))
      : short(valuesToShow(question)).map((value) => ({ value }));
  return answers.map((answer) => ({
    operation: 'run.answer',
    input: { run: runId, action_id: actionId, ...answer },
    why: 'Answer the question with this.',
  }));
}

/** The same of a question in a log, where the default may be one that the schema refuses. */
export async function validAnswerSteps(runId: string, question: Question): Promise<OperationStep[]> {
  const steps = answerSteps(runId, question);
  if (question.schema === undefined || steps.length === 0) return steps;
  const check = await checkOfAnswers(question);
  return steps.filter(
    ({ input: { choice, value } }) => choice !== undefined || check(JSON.parse(String(value))) === undefined,
  );
}

/** The step that answers a question with a value that only the caller knows. */
export function valueStep(runId: string, { actionId }: Pick<Question, 'actionId'>): OperationStep {
  const input = { run: runId, action_id: actionId, value: 'JSON' };
  return { operation: 'run.answer', input, why: 'Answer the question with a value of its schema.' };
}

function short(answers: readonly string[]): string[] {
  return answers.filter((answer) => answer.length <= SHOWN_CHARS).slice(0, SHOWN_CHOICES);
}

function valuesToShow({ schema, default: fallback }: Question): string[] {
  if (schema?.type === 'boolean') return ['true', 'false'];
  if (Array.isArray(schema?.enum)) return schema.enum.map((value) => JSON.stringify(value));
  const isFit = fallback !== undefined && isOfType(fallback.value, schema?.type);
  const known = isFit ? fallback.value : settledBy(schema ?? {});
  return known === undefined ? [] : [JSON.stringify(known)];
}

/** Whether a value is of the type that a schema names. The runner checks the whole schema, and uses no default that does not match it. */
function isOfType(value: unknown, type: unknown): boolean {
  if (typeof type !== 'string') return true;
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isRecord(value);
  return type === 'integer' ? Number.isInteger(value) : typeof value === type;
}

/** The value that the schema itself sets: an example and a bound are valid, but not meant as the answer. */
function settledBy({ const: only, default: usual, enum: values, type, ...schema }: Schema): unknown {
  const single = Array.isArray(values) && values.length === 1 ? values[0] : undefined;
  return only ?? usual ?? single ?? (type === 'object' ? settledObject(schema) : undefined);
}

/** An object whose required fields all have a value that the schema sets; undefined when one has none. */
function settledObject({ properties, required }: Schema): Record<string, unknown> | undefined {
  if (!isRecord(properties) || !Array.isArray(required) || required.length === 0) return undefined;
  const found: Record<string, unknown> = {};
  for (const name of required) {
    const field = properties[String(name)];
    const value = isRecord(field) ? settledBy(field) : undefined;
    if (value === undefined) return undefined;
    found[String(name)] = value;
  }
  return found;
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

type Schema = NonNullable<Question['schema']>;

/** Returns why a value is not a valid answer; undefined when it is valid. */
export type AnswerCheck = (value: unknown) => string | undefined;

function sameWords(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}

/** Makes the check of a question's answers. An answer is valid when it is the id of an option or matches the schema. */
export async function checkOfAnswers({
  options = [],
  schema,
  actionId,
}: Pick<Question, 'options' | 'schema' | 'actionId'>): Promise<AnswerCheck> {
  const ids = options.map(({ id }) => id);
  const problemBySchema = schema === undefined ? undefined : await checkOfSchema(schema, actionId);
  return (value) => {
    if (ids.some((id) => id === value)) return undefined;
    if (problemBySchema !== undefined) return problemBySchema(value);
    if (ids.length === 0) return undefined;
    return `${JSON.stringify(value)} is not an option of '${actionId}'; expected one of: ${ids.join(', ')}`;
  };
}

/**
 * The answer as the question means it: an option may be named by its number or its label, too. A value that was given as text may have
 * been read as JSON, such as `1` and `true`.
 */
export function answerTo({ options = [] }: Pick<Question, 'options'>, value: unknown): unknown {
  if (options.some(({ id }) => id === value)) return value;
  if (typeof value === 'number' || typeof value === 'boolean')
    return options.find(({ id }) => id === String(value))?.id ?? value;
  if (typeof value !== 'string') return value;
  const named = options.filter(({ label }) => label !== undefined && sameWords(label, value));
  return named.length === 1 ? named[0]!.id : value;
}

/** Why a value is not a valid answer to a question; undefined when it is valid. */
export async function problemOfAnswer(question: Question, value: unknown): Promise<string | undefined> {
  return (await checkOfAnswers(question))(value);
}

/** The JSON form of an answer, as the tool receives it. Throws E_BAD_ANSWER for a value that JSON cannot represent. */
export function jsonAnswer(value: unknown): unknown {
  if (isTooDeep(value))
    throw new AcorError('E_BAD_ANSWER', `an answer ${TOO_DEEP.mistake}`, { hint: TOO_DEEP.fix });
  const answer = asJson(value);
  const number = inexactNumber(answer);
  if (number === undefined) return answer;
  const { mistake, fix } = lossOfNumber(number);
  throw new AcorError('E_BAD_ANSWER', `an answer ${mistake}`, { hint: fix });
}

function asJson(value: unknown): unknown {
  try {
    return parseExact(exactJson(value));
  } catch (cause) {
    throw new AcorError('E_BAD_ANSWER', `an answer must be a JSON value, got ${String(value)}`, {
      hint: 'Answer with a string, a number, true, false, null, an array or a plain object.',
      cause,
    });
  }
}

async function checkOfSchema(schema: Schema, actionId: string): Promise<AnswerCheck> {
  const { checkOf } = await import('../../registry/schema-check.ts');
  try {
    const check = await checkOf(schema, 'answer');
    return (value) => {
      const problem = check(value);
      return problem && `the answer to '${actionId}' does not match its schema: ${problem}`;
    };
  } catch (error) {
    return () => `the schema of '${actionId}' is invalid: ${errorMessage(error)}`;
  }
}
