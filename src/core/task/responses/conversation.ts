import { emitLog } from '../../../tool/index.ts';
import type { FunctionCall, InputItem, ModelResponse, ResponsesClient } from './api.ts';
import type { FunctionTools } from './function-tools.ts';
import type { TurnFile } from './turn-file.ts';

/** What is chosen when nobody has chosen. */
const MODEL = 'gpt-5';

/**
 * A conversation that the service keeps. Its id here is that of the last response, and after it those of the calls which that response is
 * waiting for, with `:` between: an interrupted conversation goes on by saying that they came to nothing.
 */
export class Conversation {
  readonly #client: ResponsesClient;
  readonly #turn: TurnFile;
  readonly #tools: FunctionTools;
  #previous: string | null;
  #open: string[];
  #input: InputItem[] = [];

  constructor(client: ResponsesClient, turn: TurnFile, tools: FunctionTools) {
    this.#client = client;
    this.#turn = turn;
    this.#tools = tools;
    const [previous, ...open] = turn.session?.split(':') ?? [];
    this.#previous = previous ?? null;
    this.#open = open;
    for (const call of open) this.#input.push(outputOf(call, 'The run ended before this was told.'));
    this.say(turn.prompt);
  }

  /** Where it stands: opaque to everybody else. */
  get session(): string {
    return [this.#previous, ...this.#open].join(':');
  }

  /** Whether there is something that the model has not heard yet. */
  get hasMore(): boolean {
    return this.#input.length > 0;
  }

  /** What is said to the model next. */
  say(text: string): void {
    this.#input.push({ role: 'user', content: text });
  }

  /** Says what there is to say, and returns the response. Throws what the service throws, and when the response is none. */
  async next(): Promise<ModelResponse> {
    const response = await this.#client.responses.create({
      model: this.#turn.model ?? MODEL,
      // They are not carried over from one response to the next.
      instructions: this.#turn.instructions,
      input: this.#input,
      tools: this.#tools.definitions,
      ...(this.#previous !== null && { previous_response_id: this.#previous }),
    });
    if (response.status === 'failed' || response.status === 'incomplete') {
      const why = response.error?.message ?? response.incomplete_details?.reason ?? 'no reason is given';
      throw new Error(`the response is ${response.status}: ${why}`);
    }
    this.#previous = response.id;
    this.#open = callsOf(response).map(({ call_id }) => call_id);
    this.#input = [];
    return response;
  }

  /** Does what the model asks for; true when it says that it is done. */
  async carryOut(response: ModelResponse): Promise<boolean> {
    for (const { call_id, name, arguments: text } of callsOf(response)) {
      const output = await this.#tools.call(name, text);
      emitLog('debug', `${name}: ${output.slice(0, 200)}`, { tool: name });
      if (this.#tools.isSubmitted) return true;
      this.#input.push(outputOf(call_id, output));
    }
    return false;
  }
}

function callsOf({ output }: ModelResponse): FunctionCall[] {
  return output.filter((item) => item.type === 'function_call');
}

function outputOf(callId: string, output: string): InputItem {
  return { type: 'function_call_output', call_id: callId, output };
}
