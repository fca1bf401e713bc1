import { type InputRequest, type InputResponseView, inputRequired } from '@modelcontextprotocol/server';
import { answerForUser } from '../operations/run/answer-for-user.ts';
import type { Client } from './client-of.ts';
import { answerOf, asksForText, formOf, type OpenQuestion } from './elicitation.ts';
import type { OpenHost } from './host.ts';

const MAX_PROMPT_CHARS = 20_000;
const DEFAULT_MAX_TOKENS = 1000;

/** An answer, and who gave it. */
export interface ClientAnswer {
  value: unknown;
  by: 'user' | 'model' | 'client';
}

/** The request that puts a question to a client: a form for its user, a prompt for its model, its folders. Undefined when it cannot answer. */
export function requestFor(
  question: OpenQuestion,
  client: Client,
  problem?: string,
): InputRequest | undefined {
  const { audience, action } = question;
  switch (audience) {
    case 'user':
      return client.elicits ? inputRequired.elicit(formOf(question, problem)) : undefined;
    case 'model':
      return client.samples ? inputRequired.createMessage(promptOf(question)) : undefined;
    case 'client':
      return client.hasRoots && action === 'roots' ? inputRequired.listRoots() : undefined;
    case 'ai':
      return undefined;
  }
}

/** The answer to a question in a response; undefined when the response is missing or answers another kind of question. */
export function answerIn(
  question: OpenQuestion,
  response: InputResponseView,
): ClientAnswer | 'declined' | undefined {
  const { audience } = question;
  if (response.kind === 'elicit' && audience === 'user') {
    if (response.action !== 'accept') return 'declined';
    return { value: answerOf(question, response.content ?? {}), by: 'user' };
  }
  if (response.kind === 'sampling' && audience === 'model')
    return { value: answerText(question, textOf(response.result.content)), by: 'model' };
  if (response.kind === 'roots' && audience === 'client') return { value: response.roots, by: 'client' };
  return undefined;
}

/** Answers a question; returns why the answer is invalid. */
export async function handIn(
  open: OpenHost,
  run: string,
  question: OpenQuestion,
  { value, by }: ClientAnswer,
): Promise<string | undefined> {
  if (value === undefined) return 'The form has no answer.';
  if (by === 'user') return answerForUser(open.app, run, question.action_id, value);
  const input = { run, action_id: question.action_id, value: JSON.stringify(value), by };
  const answered = await open.call('run.answer', input, { signal: new AbortController().signal });
  return answered.ok ? undefined : `${answered.error.message}.`;
}

function promptOf({ action, msg, context, options, schema }: OpenQuestion) {
  const { max_tokens: maxTokens, ...about } = context;
  const parts = [
    msg ?? action,
    ...(Object.keys(about).length > 0 ? [JSON.stringify(about)] : []),
    ...(options !== null && options.length > 0
      ? [`Answer with one of these ids alone: ${options.map(({ id }) => String(id)).join(', ')}`]
      : []),
    ...(schema !== null && schema.type !== 'string'
      ? [`Answer with JSON alone, which fits this schema: ${JSON.stringify(schema)}`]
      : []),
  ];
  return {
    messages: [
      {
        role: 'user' as const,
        content: { type: 'text' as const, text: parts.join('\n\n').slice(0, MAX_PROMPT_CHARS) },
      },
    ],
    maxTokens: Number.isInteger(maxTokens) && Number(maxTokens) > 0 ? Number(maxTokens) : DEFAULT_MAX_TOKENS,
  };
}

/** What a model wrote, as the answer: text, the id of an option, or JSON, also in a fenced block. */
function answerText(question: OpenQuestion, text: string): unknown {
  const trimmed = text.trim();
  if (asksForText(question)) return trimmed;
  try {
    return JSON.parse(/^```(?:json)?\n([\s\S]*?)\n```$/.exec(trimmed)?.[1] ?? trimmed);
  } catch {
    return text;
  }
}

function textOf(content: unknown): string {
  const blocks = Array.isArray(content) ? content : [content];
  return blocks.flatMap(({ type, text }) => (type === 'text' ? [String(text)] : [])).join('\n');
}
