import { type AgentStream, agentAdapter, type Dialect } from './agent-stream.ts';
import { ClaudeQuestions } from './claude-questions.ts';
import { inShort, listOf, numbersOf, recordOf, type TypedObject, textOf } from './json-object.ts';

/** `claude -p --output-format stream-json --verbose`; with `--input-format stream-json` it also reads answers. */
export const CLAUDE = agentAdapter('claude', ({ attempt }) => new ClaudeDialect(attempt));

class ClaudeDialect implements Dialect {
  readonly #questions: ClaudeQuestions;

  constructor(attempt: number) {
    this.#questions = new ClaudeQuestions(attempt);
  }

  answer(actionId: string, answer: unknown): string {
    return this.#questions.answer(actionId, answer);
  }

  /** Subtypes change between versions, so all others are ignored. */
  read(event: TypedObject, stream: AgentStream): boolean {
    switch (event.type) {
      case 'system':
        if (event.subtype !== 'init') return false;
        stream.session(event.session_id, { model: event.model, mcp_servers: event.mcp_servers });
        return true;
      case 'assistant':
        for (const part of listOf(recordOf(event.message).content)) readPart(recordOf(part), stream);
        return true;
      case 'user':
        return readToolResults(listOf(recordOf(event.message).content).map(recordOf), stream);
      case 'tool_progress':
      case 'stream_event':
        stream.alive(event.type);
        return true;
      case 'control_request':
        this.#questions.ask(event, stream);
        return true;
      case 'result':
        readResult(event, stream);
        return true;
      default:
        return false;
    }
  }
}

function readPart(part: Readonly<Record<string, unknown>>, stream: AgentStream): void {
  switch (part.type) {
    case 'text':
      stream.say(part.text, true);
      return;
    case 'tool_use':
      stream.step(inShort(part.name), inShort(part.input), { tool_id: part.id });
      return;
    default:
      stream.note('debug', `claude: ${inShort(part.type)}`, { event: part });
  }
}

function readToolResults(parts: Readonly<Record<string, unknown>>[], stream: AgentStream): boolean {
  const results = parts.filter(({ type }) => type === 'tool_result');
  for (const { tool_use_id, is_error, content } of results) {
    const isError = is_error === true;
    stream.note(isError ? 'warn' : 'debug', inShort(content), {
      source: 'tool_result',
      tool_id: tool_use_id,
    });
  }
  return results.length > 0;
}

/** `success` is only valid without `is_error`. */
function readResult(event: TypedObject, stream: AgentStream): void {
  const {
    subtype,
    is_error: isError,
    result,
    terminal_reason,
    permission_denials,
    structured_output,
  } = event;
  stream.session(event.session_id);
  stream.measure({ ...numbersOf(event.usage), ...figuresOf(event) });
  const data = {
    ...(terminal_reason !== undefined && { terminal_reason }),
    ...(listOf(permission_denials).length > 0 && { permission_denials }),
    ...(structured_output !== undefined && { structured_output }),
  };
  if (subtype === 'success' && isError !== true) {
    stream.conclude({ ok: true, data, ...(typeof result === 'string' && { output: result }) });
    return;
  }
  const errors = listOf(event.errors)
    .map((each) => inShort(each))
    .join('; ');
  const msg = textOf(result) ?? textOf(errors) ?? `it ended with '${inShort(subtype)}'`;
  stream.conclude({ ok: false, msg, data: { ...data, subtype, is_error: isError } });
}

function figuresOf({ total_cost_usd, num_turns, duration_ms }: TypedObject): Record<string, number> {
  return numbersOf({
    cost_usd: total_cost_usd,
    turns: num_turns,
    duration_s: typeof duration_ms === 'number' ? duration_ms / 1000 : undefined,
  });
}
