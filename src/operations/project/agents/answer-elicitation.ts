import { isDeepStrictEqual } from 'node:util';
import { safeLine } from '../../../compose/terminal-text.ts';
import type { RunIndex } from '../../../core/ports/run-index.ts';
import { problemOfAnswer } from '../../../core/run/answers/check-answer.ts';
import { type Question, readQuestion } from '../../../core/run/answers/question.ts';
import type { AcorApp } from '../../acor-app.ts';
import type { HookAnswer, HookInput } from './hook-input.ts';

/** So much of a question's words is held against those of the dialog, which may be cut. */
const COMPARED_CHARS = 100;
/** Its name in settings, and as a part of a plugin. */
const OWN_SERVER = /(?:^|[:_])acor$/;

/**
 * Answers a dialog of ACOR's own server by the rules of the configuration (`answers:`). A rule that was there when the run began has
 * answered already; this is for one that was written since, while the run waits. A dialog does not name its run: where the rules
 * answer the questions that it may be about in different ways, or one of them not at all, it is left to the person.
 */
export async function answerElicitation(input: HookInput, app: AcorApp): Promise<HookAnswer> {
  const { mcp_server_name = '', message = '', requested_schema, hook_event_name } = input;
  if (!OWN_SERVER.test(mcp_server_name)) return undefined;
  const { config, index } = await app.project();
  if (config.config.answers.length === 0) return undefined;
  const answers: unknown[] = [];
  for (const { tool, question } of await openQuestions(await index())) {
    if (!message.includes(` asks: ${wordsOf(question)}`)) continue;
    const rule = config.config.answers.find(
      (each) => each.action === question.action && (each.tool ?? tool) === tool,
    );
    if (rule === undefined || (await problemOfAnswer(question, rule.answer)) !== undefined) return undefined;
    answers.push(rule.answer);
  }
  const [answer, ...others] = answers;
  if (answers.length === 0 || !others.every((other) => isDeepStrictEqual(other, answer))) return undefined;
  const content = contentOf(answer, Object.keys(requested_schema?.properties ?? {}));
  return { hookSpecificOutput: { hookEventName: hook_event_name, action: 'accept', content } };
}

async function openQuestions(index: RunIndex): Promise<{ tool: string; question: Question }[]> {
  const open = [];
  for (const { run, questions } of await index.questions({ isOpen: true })) {
    if (run.state !== 'waiting_ai') continue;
    for (const { asked, isOpen } of questions)
      if (isOpen) open.push({ tool: run.tool, question: readQuestion(asked) });
  }
  return open;
}

function wordsOf({ msg, action }: Question): string {
  return safeLine(msg ?? action)
    .trim()
    .slice(0, COMPARED_CHARS);
}

/** The answer in the fields of the form: an object whose keys they are as it is, anything else in the field `answer`. */
function contentOf(answer: unknown, fields: readonly string[]): Record<string, unknown> {
  const isRecord = typeof answer === 'object' && answer !== null && !Array.isArray(answer);
  if (isRecord && Object.keys(answer).every((key) => fields.includes(key))) return { ...answer };
  // Forms are flat: what is not goes in as JSON.
  return { answer: typeof answer === 'object' ? JSON.stringify(answer) : answer };
}
