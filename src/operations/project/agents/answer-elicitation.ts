import { isDeepStrictEqual } from 'node:util';
import { safeLine } from '../../../compose/terminal-text.ts';
import type { RunIndex } from '../../../core/ports/run-index.ts';
import { problemOfAnswer, type Question, readQuestion } from '../../../core/run/answers/question.ts';
import type { AcorApp } from '../../acor-app.ts';
import type { HookAnswer, HookInput } from './hook-input.ts';

/** How much of a question's text is compared with that of the dialog, which may be truncated. */
const COMPARED_CHARS = 100;
/** The name of ACOR's server in settings, or as the last part of a name within a plugin. */
const OWN_SERVER = /(?:^|[:_])acor$/;

/**
 * Answers a dialog of ACOR's own server by the rules of the configuration (`answers:`). The runner has already applied the rules that
 * existed when the run began; this applies a rule that was added while the run waits. A dialog does not name its run: when several open
 * questions match it, and the rules give them different answers or none, the person answers.
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

/** The answer as fields of the form: an object whose keys are all fields stays as it is, anything else goes into the field `answer`. */
function contentOf(answer: unknown, fields: readonly string[]): Record<string, unknown> {
  const isRecord = typeof answer === 'object' && answer !== null && !Array.isArray(answer);
  if (isRecord && Object.keys(answer).every((key) => fields.includes(key))) return { ...answer };
  // Forms are flat, so a nested answer goes in as JSON text.
  return { answer: typeof answer === 'object' ? JSON.stringify(answer) : answer };
}
