import { isSafeActionId } from '../run/answers/answer-files.ts';
import type { AgentStream } from './agent-stream.ts';
import { inShort, listOf, recordOf, type TypedObject, textOf } from './json-object.ts';
import { attemptId } from './marker-events.ts';

type Reply = (answer: unknown) => object;
type Fields = Readonly<Record<string, unknown>>;

/** The questions that Claude Code asks its host on the control channel, and the answers that it reads. */
export class ClaudeQuestions {
  readonly #attempt: number;
  readonly #open = new Map<string, { requestId: unknown; reply: Reply }>();
  #count = 0;

  constructor(attempt: number) {
    this.#attempt = attempt;
  }

  ask({ request_id: requestId, request: given }: TypedObject, stream: AgentStream): void {
    const request = recordOf(given);
    const question = questionOf(request);
    if (question === undefined) {
      // Without a reply, Claude Code would wait for ever.
      const error = `ACOR does not answer '${inShort(request.subtype)}'`;
      stream.note('warn', error, { event: given });
      stream.send(controlResponse({ subtype: 'error', request_id: requestId, error }));
      return;
    }
    const { reply, ...shown } = question;
    const named =
      typeof requestId === 'string' && isSafeActionId(requestId) ? requestId : `c-${++this.#count}`;
    const id = attemptId(named, this.#attempt);
    this.#open.set(id, { requestId, reply });
    const audience = request.requires_user_interaction === true ? 'user' : 'ai';
    stream.ask({ action_id: id, audience, ...shown });
  }

  /** The reply to a question of the control channel. Any other answer continues the conversation as text. */
  answer(actionId: string, answer: unknown): string {
    const open = this.#open.get(actionId);
    this.#open.delete(actionId);
    if (open === undefined) {
      const content = `Answer: ${typeof answer === 'string' ? answer : JSON.stringify(answer)}`;
      return JSON.stringify({ type: 'user', message: { role: 'user', content } });
    }
    const { requestId: request_id, reply } = open;
    return controlResponse({ subtype: 'success', request_id, response: reply(answer) });
  }
}

function controlResponse(response: object): string {
  return JSON.stringify({ type: 'control_response', response });
}

type ClaudeQuestion = { action: string; msg: string; reply: Reply; [field: string]: unknown };

function questionOf(request: Fields): ClaudeQuestion | undefined {
  if (request.subtype === 'elicitation') return elicitationOf(request);
  if (request.subtype !== 'can_use_tool') return undefined;
  const input = recordOf(request.input);
  if (request.tool_name === 'AskUserQuestion' && listOf(input.questions).length > 0) return choiceOf(input);
  return {
    action: 'can_use_tool',
    msg: `May it use ${inShort(request.tool_name)}: ${inShort(input)}`,
    context: { tool_name: request.tool_name, input },
    options: [
      { id: 'allow', label: 'Allow' },
      { id: 'deny', label: 'Deny' },
    ],
    // With a reason, the agent can look for an alternative.
    schema: {
      type: 'object',
      properties: { deny: { type: 'string' } },
      required: ['deny'],
      additionalProperties: false,
    },
    reply: (answer) =>
      answer === 'allow'
        ? { behavior: 'allow', updatedInput: input }
        : { behavior: 'deny', message: textOf(recordOf(answer).deny) ?? 'It was not allowed.' },
  };
}

/** `AskUserQuestion`: one to four questions. The answer to several is an object of questions and answers. */
function choiceOf(input: Fields): ClaudeQuestion {
  const questions = listOf(input.questions).map(recordOf);
  const nameOf = (question: Fields) => textOf(question.question) ?? '';
  const inWords = (answer: unknown) =>
    Array.isArray(answer) ? answer.map((each) => wordOf(each)).join(', ') : wordOf(answer);
  const allow = (answers: Record<string, string>) => ({
    behavior: 'allow',
    updatedInput: { ...input, answers },
  });
  const common = { action: 'AskUserQuestion', msg: questions.map(nameOf).join(' '), context: { questions } };
  const [first] = questions;
  if (questions.length === 1) {
    return {
      ...common,
      options: listOf(first!.options).map((option) => {
        const { label, description } = recordOf(option);
        return { id: wordOf(label), label: wordOf(label), ...(textOf(description) && { description }) };
      }),
      schema: schemaOf(first!),
      reply: (answer) => allow({ [nameOf(first!)]: inWords(answer) }),
    };
  }
  return {
    ...common,
    schema: {
      type: 'object',
      properties: Object.fromEntries(questions.map((question) => [nameOf(question), schemaOf(question)])),
      required: questions.map(nameOf),
      additionalProperties: false,
    },
    reply: (answer) =>
      allow(
        Object.fromEntries(Object.entries(recordOf(answer)).map(([name, each]) => [name, inWords(each)])),
      ),
  };
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** Text other than the labels is also an answer, as in Claude Code itself. */
function schemaOf({ multiSelect, options }: Fields): object {
  const labels = listOf(options).map((option) => recordOf(option).label);
  const one = { type: 'string', minLength: 1, examples: labels };
  return multiSelect === true ? { type: 'array', items: one, minItems: 1 } : one;
}

/** A question of an MCP server to the user, who may also decline or cancel. */
function elicitationOf(request: Fields): ClaudeQuestion {
  const { mcp_server_name: server, requested_schema: wanted, mode, url } = request;
  const refusals = ['decline', 'cancel'];
  // The schema may name a dialect that is not available.
  const { $schema: _, ...form } = recordOf(wanted);
  const answers =
    mode === 'url'
      ? { options: ['accept', ...refusals].map((id) => ({ id })) }
      : { schema: { anyOf: [{ type: 'object', ...form }, { enum: refusals }] } };
  return {
    action: 'elicitation',
    msg: textOf(request.message) ?? `${inShort(server)} asks`,
    audience: 'user',
    context: { server, ...(url !== undefined && { url }) },
    ...answers,
    reply: (answer) =>
      typeof answer === 'string' ? { action: answer } : { action: 'accept', content: answer },
  };
}
