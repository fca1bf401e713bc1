import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was asked
export type Asked = any;

/** What the model answers: items of its output, or another status. */
export type Scripted = readonly object[] | { status: number; message: string };

/** A service on loopback that speaks the Responses API and follows a script. */
export class ScriptedModel {
  /** The bodies of the requests, in their order. */
  readonly asked: Asked[] = [];
  /** The keys with which they came. */
  readonly keys: (string | undefined)[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(script: readonly Scripted[]): Promise<ScriptedModel> {
    const server = createServer(async (request, response) => {
      model.keys.push(request.headers.authorization);
      model.asked.push(JSON.parse(await bodyOf(request)));
      const n = model.asked.length;
      const scripted = script[n - 1] ?? { status: 400, message: `nothing is scripted for request ${n}` };
      const isAnswer = Array.isArray(scripted);
      response.writeHead(isAnswer ? 200 : (scripted as { status: number }).status, {
        'content-type': 'application/json',
        'x-should-retry': 'false',
      });
      response.end(JSON.stringify(isAnswer ? answer(n, scripted) : { error: scripted }));
    });
    const model = new ScriptedModel(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return model;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  [Symbol.dispose](): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** A call of a function, as the model asks for it. */
export function calls(name: string, args: object, callId = `call_${name}`): object {
  return { type: 'function_call', id: `fc_${name}`, call_id: callId, name, arguments: JSON.stringify(args) };
}

/** What the model says in words. */
export function says(text: string): object {
  const content = [{ type: 'output_text', text, annotations: [] }];
  return { type: 'message', id: 'msg', role: 'assistant', status: 'completed', content };
}

function answer(n: number, output: readonly object[]): object {
  const usage = { input_tokens: 1000, output_tokens: 100, total_tokens: 1100 };
  return { id: `resp_${n}`, object: 'response', status: 'completed', model: 'scripted', output, usage };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}
