import { safeLine } from '../../compose/terminal-text.ts';
import { problemOfAnswer } from '../../core/runner/answers/check-answer.ts';
import { type Question, readQuestion } from '../../core/runner/answers/question.ts';
import { questionsOf } from '../../core/storage/open-questions.ts';
import type { AcorApp } from '../acor-app.ts';
import type { HookAnswer, HookInput } from './hook-input.ts';
import { newestRuns } from './newest-runs.ts';

/** So much of a question's words is held against those of the dialog, which may be cut. */
const COMPARED_CHARS = 100;

/**
 * Answers a dialog of ACOR's own server by the rules of the configuration (`answers:`). A rule that was there when the run began has
 * answered already; this is for one that was written since, while the run waits. Which of several same questions is meant does not
 * matter: a rule answers all of them alike.
 */
export async function answerElicitation(input: HookInput, app: AcorApp): Promise<HookAnswer> {
  const { mcp_server_name, message, requested_schema, hook_event_name } = input;
  if (mcp_server_name !== 'acor' || message === undefined) return undefined;
  const { config, store } = await app.project();
  const rules = config.config.answers;
  if (rules.length === 0) return undefined;
  for (const { run_id, tool, state } of newestRuns(store)) {
    if (state !== 'waiting_ai' || !message.includes(`${tool} asks: `)) continue;
    for (const { asked, isOpen } of await questionsOf(store.layout(run_id).events)) {
      const question = readQuestion(asked);
      if (!isOpen || !message.includes(wordsOf(question))) continue;
      const rule = rules.find((each) => each.action === question.action && (each.tool ?? tool) === tool);
      if (rule === undefined || (await problemOfAnswer(question, rule.answer)) !== undefined) continue;
      const content = contentOf(rule.answer, Object.keys(requested_schema?.properties ?? {}));
      return { hookSpecificOutput: { hookEventName: hook_event_name, action: 'accept', content } };
    }
  }
  return undefined;
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
