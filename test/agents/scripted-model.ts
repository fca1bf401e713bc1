import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Dialect, dialectOf } from './dialects.ts';

/** What the model does next: it calls a tool of the agent, or writes a final message. */
export type RunSlot = { call: string; args: Record<string, unknown> } | { say: string };

/** What the agent has sent to the model so far. */
export interface Heard {
  /** The names of the tools that the model may call. */
  tools: string[];
  /** The results of its calls, in order, as the model reads them. */
  results: string[];
  /** Everything else that the agent sent: instructions, context, prompt. */
  text: string;
}

/** A model with scripted replies, on a port of this machine, behind the interfaces of three vendors. */
export class ScriptedModel {
  readonly #server: Server;
  readonly #script: (heard: Heard) => RunSlot;
  /** What it received at each turn. */
  readonly heard: Heard[] = [];
  readonly problems: string[] = [];

  private constructor(script: (heard: Heard) => RunSlot) {
    this.#script = script;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        this.problems.push(String(error));
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: String(error), type: 'invalid_request_error' } }));
      });
    });
  }

  static async start(script: (heard: Heard) => RunSlot): Promise<ScriptedModel> {
    const model = new ScriptedModel(script);
    await new Promise<void>((resolve) => model.#server.listen(0, '127.0.0.1', resolve));
    return model;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const dialect = dialectOf(request.method ?? '', request.url ?? '');
    const body = await bodyOf(request);
    if (dialect === undefined) {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"there is no such thing here","type":"not_found_error"}}');
      return;
    }
    const turn = this.#turn(dialect, body);
    const wantsStream = dialect.streams(request.url ?? '', body);
    response.writeHead(200, { 'content-type': wantsStream ? 'text/event-stream' : 'application/json' });
    response.end(wantsStream ? dialect.stream(turn) : JSON.stringify(dialect.whole(turn)));
  }

  /** Agents also ask for titles and the like; such a request offers no tools. */
  // biome-ignore lint/suspicious/noExplicitAny: the bodies are those of three makers
  #turn(dialect: Dialect, body: any): RunSlot {
    const heard = dialect.heard(body);
    if (heard.tools.length === 0) return { say: '{"title":"A test"}' };
    this.heard.push(heard);
    return this.#script(heard);
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text === '' ? {} : JSON.parse(text);
}
