import { problemOfAnswer } from '../../core/runner/answers/check-answer.ts';
import { type Question, readQuestion } from '../../core/runner/answers/question.ts';
import { questionsOf } from '../../core/storage/open-questions.ts';
import type { AcorApp } from '../acor-app.ts';
import type { HookAnswer, HookInput } from './hook-input.ts';

/** How an answer to a dialog names the run and the question: as the server writes them into its message. */
const NAMED = /\b(r-[0-9a-z]+)\b/g;

/**
 * Answers a dialog of ACOR's own server by the rules of the configuration (`answers:`). A rule that was there when the tool asked has
 * answered already; this is for one that was written since, while the run waits.
 */
export async function answerElicitation(input: HookInput, app: AcorApp): Promise<HookAnswer> {
  if (input.mcp_server_name !== 'acor') return undefined;
  const { config, store } = await app.project();
  const rules = config.config.answers;
  if (rules.length === 0) return undefined;
  for (const [runId] of (input.message ?? '').matchAll(NAMED)) {
    const { tool } = store.read(runId);
    for (const { asked, isOpen } of await questionsOf(store.layout(runId).events)) {
      const question = readQuestion(asked);
      if (!isOpen || !names(input.message!, question)) continue;
      const rule = rules.find((each) => each.action === question.action && (each.tool ?? tool) === tool);
      if (rule === undefined || (await problemOfAnswer(question, rule.answer)) !== undefined) continue;
      const content = contentOf(rule.answer, Object.keys(input.requested_schema?.properties ?? {}));
      if (content === undefined) continue;
      return { hookSpecificOutput: { hookEventName: input.hook_event_name, action: 'accept', content } };
    }
  }
  return undefined;
}

function names(message: string, { actionId }: Question): boolean {
  return message.split(/[^\w.-]+/).includes(actionId);
}

/** The answer in the fields of the dialog: an object has its own, anything else goes into the only one. */
function contentOf(answer: unknown, fields: readonly string[]): Record<string, unknown> | undefined {
  if (typeof answer === 'object' && answer !== null && !Array.isArray(answer)) {
    const isWhole = Object.keys(answer).every((key) => fields.includes(key));
    return isWhole ? { ...answer } : undefined;
  }
  const [only, ...others] = fields;
  return only !== undefined && others.length === 0 ? { [only]: answer } : undefined;
}
