import { createInterface } from 'node:readline';
import { lossOf } from '../util/exact-json.ts';
import type { CliApp } from './cli-app.ts';
import { type Allowed, callTool, type OfferedTool, offeredTools, withCommands } from './offered-tools.ts';
import { guardStdout } from './serve.ts';
import { writeOut } from './write-out.ts';

/** The revisions of MCP whose messages for tools are these, the newest first. */
const REVISIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

interface Message {
  id?: string | number | null;
  method?: unknown;
  params?: Record<string, unknown>;
}

/**
 * Serves the commands of a program as tools of MCP on standard input and output, until the input ends. `allow` is what they
 * may do at most.
 */
export async function serveMcp<C>(
  app: CliApp<C>,
  { allow = 'destroys' }: { allow?: Allowed } = {},
): Promise<void> {
  const release = guardStdout();
  try {
    const server = new McpServer(app, await offeredTools(app, allow));
    for await (const line of createInterface({ input: process.stdin })) server.receive(line);
    await server.idle();
  } finally {
    release();
  }
}

class McpServer<C> {
  readonly #app: CliApp<C>;
  readonly #tools: ReadonlyMap<string, OfferedTool<C>>;
  /** The calls that run, by the id of their request. */
  readonly #calls = new Map<string | number, AbortController>();
  #written: Promise<unknown> = Promise.resolve();
  readonly #running = new Set<Promise<void>>();

  constructor(app: CliApp<C>, tools: readonly OfferedTool<C>[]) {
    this.#app = app;
    this.#tools = new Map(tools.map((each) => [each.name, each]));
  }

  receive(line: string): void {
    if (line.trim() === '') return;
    const running = this.#answer(line).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Resolves when every call is answered. */
  async idle(): Promise<void> {
    await Promise.all(this.#running);
    await this.#written;
  }

  async #answer(line: string): Promise<void> {
    const message = parsed(line);
    if (message === undefined)
      return this.#send({ id: null, error: { code: -32700, message: 'not a JSON object' } });
    const { id, method, params = {} } = message;
    if (typeof method !== 'string') {
      if (id !== undefined) this.#send({ id, error: { code: -32600, message: 'the method is missing' } });
      return;
    }
    if (method === 'notifications/cancelled') this.#calls.get(params['requestId'] as string)?.abort();
    if (id === undefined || id === null) return;
    try {
      const loss = method === 'tools/call' ? lossOf(line, message) : undefined;
      if (loss !== undefined) throw new Error(`the message ${loss.mistake}. ${loss.fix}`);
      const result = await this.#result(id, method, params);
      this.#send(
        result === undefined
          ? { id, error: { code: -32601, message: `no method ${method}` } }
          : { id, result },
      );
    } catch (error) {
      this.#send({
        id,
        error: { code: -32602, message: error instanceof Error ? error.message : String(error) },
      });
    }
  }

  async #result(
    id: string | number,
    method: string,
    params: Record<string, unknown>,
  ): Promise<object | undefined> {
    const { name, version, summary } = this.#app;
    switch (method) {
      case 'initialize': {
        const wanted = REVISIONS.find((each) => each === params['protocolVersion']);
        return {
          protocolVersion: wanted ?? REVISIONS[0],
          capabilities: { tools: {} },
          serverInfo: { name, version },
          instructions: `${summary} Every tool answers with one envelope: ok, data or error, and meta.`,
        };
      }
      case 'ping':
        return {};
      case 'tools/list':
        return { tools: [...this.#tools.values()].map(described) };
      case 'tools/call':
        return this.#call(id, params);
      default:
        return undefined;
    }
  }

  async #call(id: string | number, params: Record<string, unknown>): Promise<object> {
    const tool = this.#tools.get(String(params['name']));
    if (tool === undefined) throw new Error(`no tool ${JSON.stringify(params['name'])}`);
    const cancelled = new AbortController();
    this.#calls.set(id, cancelled);
    try {
      const input = (params['arguments'] ?? {}) as Record<string, unknown>;
      const envelope = withCommands(this.#app, await callTool(this.#app, tool.op, input, cancelled));
      return {
        content: [{ type: 'text', text: JSON.stringify(envelope) }],
        structuredContent: envelope,
        isError: !envelope.ok,
      };
    } finally {
      this.#calls.delete(id);
    }
  }

  #send(message: object): void {
    const line = `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
    this.#written = this.#written.then(() => writeOut(1, line)).catch(() => undefined);
  }
}

function described<C>({ name, op, inputSchema }: OfferedTool<C>): object {
  const { summary, effect, idempotent, deprecated } = op;
  return {
    name,
    description: deprecated === undefined ? summary : `Deprecated, use ${deprecated.use}. ${summary}`,
    inputSchema,
    annotations: {
      readOnlyHint: effect === 'reads',
      destructiveHint: effect === 'destroys',
      idempotentHint: idempotent,
    },
  };
}

function parsed(line: string): Message | undefined {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === 'object' && message !== null && !Array.isArray(message)
      ? (message as Message)
      : undefined;
  } catch {
    return undefined;
  }
}
