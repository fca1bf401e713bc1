import type { Heard, RunSlot } from './scripted-model.ts';

/** How one maker's agents speak with a model. */
// biome-ignore lint/suspicious/noExplicitAny: the bodies are the makers' own
type Body = any;

export interface Dialect {
  streams(url: string, body: Body): boolean;
  heard(body: Body): Heard;
  /** The answer as server-sent events. */
  stream(turn: RunSlot): string;
  /** The answer as one object. */
  whole(turn: RunSlot): unknown;
}

/** Which interface a request is for; undefined for none of them. */
export function dialectOf(method: string, url: string): Dialect | undefined {
  if (method !== 'POST') return undefined;
  if (/^\/v1\/messages(\?|$)/.test(url)) return MESSAGES;
  if (/^\/v1\/responses(\?|$)/.test(url)) return RESPONSES;
  return /:(stream)?generateContent(\?|$)/i.test(url) ? GENERATE : undefined;
}

let count = 0;
const newId = (prefix: string) => `${prefix}_${++count}`;

const textOf = (content: Body): string => (typeof content === 'string' ? content : JSON.stringify(content));

/** The Messages interface, of Claude Code. */
const MESSAGES: Dialect = {
  streams: (_, body) => body.stream === true,
  heard({ tools = [], messages = [], system = '' }) {
    const blocks = messages.flatMap(({ content }: Body) => (Array.isArray(content) ? content : [content]));
    const results = blocks.filter((block: Body) => block.type === 'tool_result');
    const others = blocks.filter((block: Body) => block.type !== 'tool_result' && block.type !== 'tool_use');
    return {
      tools: tools.map(({ name }: Body) => name),
      results: results.map(({ content }: Body) => textOf(content)),
      text: [system, ...others].map(textOf).join('\n'),
    };
  },
  whole(turn) {
    const block =
      'say' in turn
        ? { type: 'text', text: turn.say }
        : { type: 'tool_use', id: newId('toolu'), name: turn.call, input: turn.args };
    return {
      id: newId('msg'),
      type: 'message',
      role: 'assistant',
      model: 'scripted',
      content: [block],
      stop_reason: 'say' in turn ? 'end_turn' : 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
  },
  stream(turn) {
    const message = this.whole(turn) as Body;
    const [block] = message.content;
    const opened = block.type === 'text' ? { ...block, text: '' } : { ...block, input: {} };
    const delta =
      block.type === 'text'
        ? { type: 'text_delta', text: block.text }
        : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
    const { stop_reason } = message;
    return named([
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: opened },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ]);
  },
};

/** The Responses interface, of Codex. */
const RESPONSES: Dialect = {
  streams: (_, body) => body.stream === true,
  heard({ tools = [], input = [], instructions = '' }) {
    const results = input.filter(({ type = '' }: Body) => type.endsWith('_output'));
    const others = input.filter(({ type = 'message' }: Body) => type === 'message');
    return {
      tools: tools.flatMap((tool: Body) => {
        if (tool.type === 'namespace') return tool.tools.map(({ name }: Body) => `${tool.name}/${name}`);
        return [tool.name ?? tool.type];
      }),
      results: results.map(({ output, tools: found }: Body) => textOf(output ?? found)),
      text: [instructions, ...others].map(textOf).join('\n'),
    };
  },
  whole(turn) {
    return {
      id: newId('resp'),
      object: 'response',
      output: [item(turn)],
      usage: {
        input_tokens: 1,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 1,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 2,
      },
    };
  },
  stream(turn) {
    const response = this.whole(turn) as Body;
    const [done] = response.output;
    return named([
      { type: 'response.created', response: { id: response.id } },
      { type: 'response.output_item.added', output_index: 0, item: done },
      { type: 'response.output_item.done', output_index: 0, item: done },
      { type: 'response.completed', response },
    ]);
  },
};

function item(turn: RunSlot): Body {
  if ('say' in turn) {
    const content = [{ type: 'output_text', text: turn.say }];
    return { type: 'message', role: 'assistant', id: newId('msg'), content };
  }
  if (turn.call === 'tool_search') {
    const { args } = turn;
    return {
      type: 'tool_search_call',
      call_id: newId('call'),
      status: 'completed',
      execution: 'client',
      arguments: args,
    };
  }
  const [name, namespace] = turn.call.split('/').reverse();
  const args = JSON.stringify(turn.args);
  return {
    type: 'function_call',
    id: newId('fc'),
    call_id: newId('call'),
    name,
    ...(namespace && { namespace }),
    arguments: args,
  };
}

/** The interface of Gemini. */
const GENERATE: Dialect = {
  streams: (url) => /:stream/.test(url),
  heard({ tools = [], contents = [], systemInstruction = '' }) {
    const parts = contents.flatMap(({ parts: own = [] }: Body) => own);
    const results = parts.filter((part: Body) => part.functionResponse !== undefined);
    const others = parts.filter((part: Body) => part.text !== undefined);
    return {
      tools: tools.flatMap(({ functionDeclarations = [] }: Body) =>
        functionDeclarations.map(({ name }: Body) => name),
      ),
      results: results.map((part: Body) => textOf(part.functionResponse.response)),
      text: [systemInstruction, ...others].map(textOf).join('\n'),
    };
  },
  whole(turn) {
    const part = 'say' in turn ? { text: turn.say } : { functionCall: { name: turn.call, args: turn.args } };
    return {
      candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    };
  },
  stream(turn) {
    return `data: ${JSON.stringify(this.whole(turn))}\n\n`;
  },
};

function named(events: readonly Body[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}
