import { confirm, isCancel, log, select, text } from '@clack/prompts';
import type { ProgramQuestion } from '../../compose/person.ts';
import { safeData, safeLine, safeLines } from '../../compose/terminal-text.ts';
import { type PromptStreams, prompting } from './prompts.ts';

/** Longer texts are cut on the screen; `acor decisions` shows all of it. */
const MAX_TEXT_CHARS = 4000;
const MAX_LINE_CHARS = 400;

/** Why a value is not a valid answer; undefined when it is. */
type Check = (value: unknown) => string | undefined;

/** What a person may choose: an answer, or `typed` for free text. */
interface Choice {
  label: string;
  description?: string | undefined;
  answer: { value: unknown } | 'typed';
}

/**
 * Asks the person at the terminal to answer a question; undefined when they cancel (Ctrl-C, Ctrl-D, Escape) or
 * `signal` ends it. No escape sequence of the tool reaches the terminal.
 */
export async function promptFor(
  question: ProgramQuestion,
  check: Check,
  signal: AbortSignal,
): Promise<{ value: unknown } | undefined> {
  if (question.isOwn !== true) renderContext(question);
  return prompting({ draws: true }, (streams) =>
    ask(question, check, { ...streams, signal: AbortSignal.any([signal, streams.signal]) }),
  );
}

async function ask(
  question: ProgramQuestion,
  check: Check,
  streams: PromptStreams,
): Promise<{ value: unknown } | undefined> {
  const message = cut(safeLines(question.msg ?? question.action), MAX_TEXT_CHARS);
  const choices = choicesOf(question);
  if (choices.length > 0) {
    const picked = await select({
      message,
      ...streams,
      options: shownChoices(choices),
      initialValue: preselected(question, choices),
    });
    if (isCancel(picked)) return undefined;
    const { answer } = choices[picked]!;
    if (answer !== 'typed') return answer;
  } else if (question.schema?.type === 'boolean') {
    const picked = await confirm({
      message,
      ...streams,
      initialValue: question.default?.value === true,
    });
    return isCancel(picked) ? undefined : { value: picked };
  }
  return typed(question, message, check, streams);
}

function choicesOf({ options = [], schema }: ProgramQuestion): Choice[] {
  const own = options.map(({ id, label, description }) => ({
    label: label ?? id,
    description,
    answer: { value: id },
  }));
  if (own.length > 0) {
    return schema === undefined ? own : [...own, { label: 'Something else', answer: 'typed' as const }];
  }
  const listed = Array.isArray(schema?.enum) ? schema.enum : [];
  return listed.map((value) => ({ label: textOf(value), answer: { value } }));
}

function shownChoices(choices: readonly Choice[]) {
  return choices.map(({ label, description }, value) => ({
    value,
    label: oneLine(label),
    ...(description !== undefined && { hint: oneLine(description) }),
  }));
}

function preselected({ default: fallback }: ProgramQuestion, choices: readonly Choice[]): number {
  const wanted = JSON.stringify(fallback?.value);
  const isWanted = ({ answer }: Choice) => answer !== 'typed' && JSON.stringify(answer.value) === wanted;
  return Math.max(0, choices.findIndex(isWanted));
}

async function typed(
  question: ProgramQuestion,
  message: string,
  check: Check,
  streams: PromptStreams,
): Promise<{ value: unknown } | undefined> {
  const read = (line = '') => answerOf(line, question, check);
  const given = await text({
    message: `${message}${hintOf(question)}`,
    ...streams,
    initialValue: initialText(question),
    validate: (line) => {
      const answer = read(line);
      return 'problem' in answer ? oneLine(answer.problem) : undefined;
    },
  });
  if (isCancel(given)) return undefined;
  const answer = read(given);
  return 'problem' in answer ? undefined : answer;
}

/** The value of a typed line: `7` is a number where a number is valid, and a text where only a text is. */
function answerOf(
  line: string,
  { schema }: ProgramQuestion,
  check: Check,
): { value: unknown } | { problem: string } {
  const readings = schema?.type === 'string' ? [line] : [...asJson(line), line];
  const fitting = readings.find((value) => check(value) === undefined);
  return fitting === undefined ? { problem: check(readings[0]) ?? '' } : { value: fitting };
}

function asJson(line: string): unknown[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}

/** The default as editable text; a default that cannot be typed is not offered. */
function initialText({ default: fallback }: ProgramQuestion): string {
  const initial = fallback === undefined ? '' : textOf(fallback.value);
  return oneLine(initial) === initial ? initial : '';
}

function hintOf({ schema }: ProgramQuestion): string {
  return schema === undefined ? '' : `\n${oneLine(`JSON Schema: ${JSON.stringify(schema)}`)}`;
}

function renderContext({ actionId, action, audience, context }: ProgramQuestion): void {
  const addressee = audience === 'user' ? 'you' : 'an AI; you may answer';
  const pairs = Object.entries(safeData(context) as Record<string, unknown>).map(
    ([key, value]) => `\n${oneLine(key)}: ${safeLines(textOf(value))}`,
  );
  const shown = cut(pairs.join(''), MAX_TEXT_CHARS);
  log.info(`${oneLine(action)} (${oneLine(actionId)}) asks ${addressee}${shown}`);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function oneLine(value: string): string {
  return cut(safeLine(value), MAX_LINE_CHARS);
}

function cut(value: string, maxChars: number): string {
  return value.length <= maxChars ? value : `${value.slice(0, maxChars)} …`;
}
