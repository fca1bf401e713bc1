import {
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  ProtocolErrorCode,
  parseJSONRPCMessage,
} from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { clientLines, MAX_LINE_BYTES } from './client-lines.ts';
import { type ClientJson, parseClientJson } from './exact-arguments.ts';

const TOO_LONG = `Invalid Request: a message has at most ${MAX_LINE_BYTES / 1024 / 1024} MiB. Pass the path of a file in place of its content.`;
const EMPTY_BATCH = 'Invalid Request: an empty batch';
const INVALID = 'Invalid Request: not a JSON-RPC 2.0 message, or an invalid member of its params';

/**
 * Standard input and output for the SDK, which would drop in silence, or end the connection for, a line that is not JSON, or too long, and an invalid
 * request: this answers them, and parses each line once. The messages of a batch are answered one by one, as over HTTP.
 */
export class StdioTransport extends StdioServerTransport {
  readonly #lines;

  constructor() {
    const lines = clientLines({
      read: (line) => this.#read(line),
      tooLong: (id) => this.#refuse(id, TOO_LONG),
    });
    super(lines, process.stdout);
    this.#lines = lines;
  }

  override async start(): Promise<void> {
    await super.start();
    process.stdin.pipe(this.#lines);
  }

  #read(line: string): void {
    if (line.trim() === '') return;
    let parsed: ClientJson;
    try {
      parsed = parseClientJson(line);
    } catch {
      this.#answerError(null, ProtocolErrorCode.ParseError, 'Parse error: the line is not JSON');
      return;
    }
    const { messages, refusal } = parsed;
    if (refusal !== undefined) this.#refuse(refusal.id, refusal.message);
    else if (!Array.isArray(messages)) this.#pass(messages);
    else if (messages.length === 0) this.#refuse(null, EMPTY_BATCH);
    else for (const each of messages) this.#pass(each);
  }

  #pass(value: unknown): void {
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(value);
    } catch {
      this.#refuseMessage(value);
      return;
    }
    this.onmessage?.(message);
  }

  #refuseMessage(value: unknown): void {
    const { id, method, result, error } = (value ?? {}) as Record<string, unknown>;
    const isAnswer = method === undefined && (result !== undefined || error !== undefined);
    const isNotification = method !== undefined && id === undefined;
    if (isAnswer || isNotification) process.stderr.write('acor: ignored an invalid message of the client\n');
    else this.#refuse(id, INVALID);
  }

  #refuse(id: unknown, message: string): void {
    this.#answerError(id, ProtocolErrorCode.InvalidRequest, message);
  }

  /** An error has the id null where the request has none that can be read. */
  #answerError(given: unknown, code: ProtocolErrorCode, message: string): void {
    const id = typeof given === 'string' || typeof given === 'number' ? given : null;
    const refusal = { jsonrpc: '2.0', id, error: { code, message } } as JSONRPCErrorResponse;
    void this.send(refusal).catch(() => {});
  }
}
