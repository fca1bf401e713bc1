import {
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  ProtocolErrorCode,
  parseJSONRPCMessage,
} from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { clientLines, MAX_LINE_BYTES } from './client-lines.ts';
import { withExactArguments } from './exact-arguments.ts';

/**
 * Standard input and output for the SDK, with an answer to what it would drop in silence, or end the connection for: a line that is not JSON, or too
 * long, and a request that is not valid. The messages of a batch are answered one by one, as over HTTP.
 */
export function stdioTransport(): StdioServerTransport {
  const refuse = (id: unknown, code: ProtocolErrorCode, message: string) => {
    // An error has the id null where the request has none that can be read.
    const refusal = { jsonrpc: '2.0', id, error: { code, message } } as JSONRPCErrorResponse;
    void transport.send(refusal).catch(() => {});
  };
  const lines = clientLines({
    read: (line) => messagesIn(line, refuse),
    tooLong: (id) => refuse(id, ProtocolErrorCode.InvalidRequest, TOO_LONG),
  });
  // The lines are bounded already.
  const unbounded = { maxBufferSize: Number.POSITIVE_INFINITY };
  const transport = new StdioServerTransport(process.stdin.pipe(lines), process.stdout, unbounded);
  return transport;
}

const TOO_LONG = `Invalid Request: a message has at most ${MAX_LINE_BYTES / 1024 / 1024} MiB. Pass the path of a file in place of its content.`;

type Refuse = (id: unknown, code: ProtocolErrorCode, message: string) => void;

/** The valid messages of a line, each as a line of its own. */
function messagesIn(line: string, refuse: Refuse): string[] {
  if (line.trim() === '') return [];
  const exact = withExactArguments(line);
  let value: unknown;
  try {
    value = JSON.parse(exact);
  } catch {
    refuse(null, ProtocolErrorCode.ParseError, 'Parse error: the line is not JSON');
    return [];
  }
  if (!Array.isArray(value)) return isMessage(value, refuse) ? [exact] : [];
  if (value.length === 0) refuse(null, ProtocolErrorCode.InvalidRequest, 'Invalid Request: an empty batch');
  return value.filter((each) => isMessage(each, refuse)).map((each) => JSON.stringify(each));
}

function isMessage(value: unknown, refuse: Refuse): value is JSONRPCMessage {
  try {
    parseJSONRPCMessage(value);
    return true;
  } catch {
    const { id, method, result, error } = (value ?? {}) as Record<string, unknown>;
    const isAnswer = method === undefined && (result !== undefined || error !== undefined);
    const isNotification = method !== undefined && id === undefined;
    if (isAnswer || isNotification) process.stderr.write('acor: ignored an invalid message of the client\n');
    else
      refuse(
        typeof id === 'string' || typeof id === 'number' ? id : null,
        ProtocolErrorCode.InvalidRequest,
        'Invalid Request: not a JSON-RPC 2.0 message, or an invalid member of its params',
      );
    return false;
  }
}
