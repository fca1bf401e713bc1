import { actionWords } from './action-words.ts';
import { type AgentStream, agentAdapter, type Dialect } from './agent-stream.ts';
import { ClaudeQuestions } from './claude-questions.ts';
import { inShort, listOf, numbersOf, recordOf, type TypedObject, textOf } from './json-object.ts';
import { claudeUsage } from './token-usage.ts';

/** `claude -p --output-format stream-json --verbose`; with `--input-format stream-json` it also reads answers. */
export const CLAUDE = agentAdapter('claude', ({ attempt }) => new ClaudeDialect(attempt));

class ClaudeDialect implements Dialect {
  readonly #questions: ClaudeQuestions;
  /** The usage of each message of the model: a message comes in several events, which repeat it. */
  readonly #usage = new Map<unknown, Record<string, number>>();
  readonly #sums: Record<string, number> = {};

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
        this.#count(recordOf(event.message), stream);
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

  /** Reports the tokens so far, so that a limit of cost holds while the agent works. The last message has the exact ones. */
  #count({ id, usage }: Readonly<Record<string, unknown>>, stream: AgentStream): void {
    if (id === undefined || usage === undefined) return;
    const now = claudeUsage(usage);
    const before = this.#usage.get(id) ?? {};
    for (const [name, value] of Object.entries(now))
      this.#sums[name] = (this.#sums[name] ?? 0) + value - (before[name] ?? 0);
    this.#usage.set(id, now);
    stream.spends(this.#sums);
  }
}

function readPart(part: Readonly<Record<string, unknown>>, stream: AgentStream): void {
  switch (part.type) {
    case 'text':
      stream.say(part.text, true);
      return;
    case 'tool_use':
      stream.step(inShort(part.name), actionWords(part.input), { tool_id: part.id, input: part.input });
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
  stream.measure({ ...claudeUsage(event.usage), ...figuresOf(event) });
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
  // Claude Code has reached the limit that it was given.
  const code = subtype === 'error_max_budget_usd' ? { code: 'E_BUDGET' } : {};
  stream.conclude({ ok: false, ...code, msg, data: { ...data, subtype, is_error: isError } });
}

function figuresOf({ total_cost_usd, num_turns, duration_ms }: TypedObject): Record<string, number> {
  return numbersOf({
    cost_usd: total_cost_usd,
    turns: num_turns,
    duration_s: typeof duration_ms === 'number' ? duration_ms / 1000 : undefined,
  });
}
