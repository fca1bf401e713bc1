import { emitLog } from '../../../tool/index.ts';
import type { FunctionCall, InputItem, ModelResponse, ResponsesClient } from './api.ts';
import type { FunctionTools } from './function-tools.ts';
import type { TurnFile } from './turn-file.ts';

/**
 * A conversation that the service stores. Its id is the id of the last response, followed by the ids of its unanswered
 * calls, separated by `:`. A resumed conversation answers these calls as interrupted.
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
    for (const call of open) this.#input.push(outputOf(call, 'The run ended before this call returned.'));
    this.say(turn.prompt);
  }

  /** Its current id: opaque to all other code. */
  get session(): string {
    return [this.#previous, ...this.#open].join(':');
  }

  /** Whether the model has unread input. */
  get hasMore(): boolean {
    return this.#input.length > 0;
  }

  /** Adds input for the next request. */
  say(text: string): void {
    this.#input.push({ role: 'user', content: text });
  }

  /**
   * Sends the input and returns the response. Throws the service's errors, and an error when the answer is not a
   * response.
   */
  async next(): Promise<ModelResponse> {
    const response = await this.#client.responses.create({
      model: this.#turn.model,
      // The service does not carry instructions over from one response to the next.
      instructions: this.#turn.instructions,
      input: this.#input,
      tools: this.#tools.definitions,
      ...(this.#previous !== null && { previous_response_id: this.#previous }),
    });
    if (response.status === 'failed' || response.status === 'incomplete') {
      const why = response.error?.message ?? response.incomplete_details?.reason ?? 'without a reason';
      throw new Error(`the response is ${response.status}: ${why}`);
    }
    this.#previous = response.id;
    this.#open = callsOf(response).map(({ call_id }) => call_id);
    this.#input = [];
    return response;
  }

  /** Executes the calls of the model. True when the model reports that it is done. */
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
