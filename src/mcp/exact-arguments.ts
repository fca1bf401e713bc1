import { ProtocolErrorCode } from '@modelcontextprotocol/server';
import { isTooDeep, lossOfKey, parseExact } from '../util/exact-json.ts';

/** What a client sent: messages, or why they are refused although they are JSON. */
export interface ClientJson {
  messages: unknown;
  /** The id is null where it cannot be known which one is meant. */
  refusal: { id: unknown; message: string } | undefined;
}

/**
 * Parses the JSON of a client, with the arguments of its calls in a form that the SDK passes on whole: it would change numbers that a program cannot
 * hold, and drop an argument called `__proto__`, so that nothing could refuse them. Throws a SyntaxError.
 */
export function parseClientJson(json: string): ClientJson {
  const messages = /tools\\?\/call/.test(json) ? exactMessages(json) : JSON.parse(json);
  const loss = lossOfKey(json);
  if (loss === undefined) return { messages, refusal: undefined };
  const id = loss.key !== 'id' && isObject(messages) ? (messages['id'] ?? null) : null;
  return { messages, refusal: { id, message: `Invalid Request: the message ${loss.mistake}. ${loss.fix}` } };
}

function exactMessages(json: string): unknown {
  const messages = parseExact(json);
  if (isTooDeep(messages)) return messages;
  for (const each of [messages].flat()) {
    const params = objectIn(each, 'params');
    const given = objectIn(params, 'arguments');
    // acor_run has the arguments of another tool among its own.
    renameProto(given, 'arguments');
    renameProto(params, 'arguments');
  }
  return messages;
}

type Values = Record<string, unknown>;

function objectIn(value: unknown, key: string): Values | undefined {
  const found = isObject(value) ? value[key] : undefined;
  return isObject(found) ? found : undefined;
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** No input has such a name, so it is refused as an unknown one. */
function renameProto(holder: Values | undefined, key: string): void {
  const values = objectIn(holder, key);
  if (values === undefined || !Object.hasOwn(values, '__proto__')) return;
  const entries = Object.entries(values).map(([name, each]) => [
    name === '__proto__' ? `[${name}]` : name,
    each,
  ]);
  holder![key] = Object.fromEntries(entries);
}

/** The same for the request of a client by HTTP; the answer to one that is refused. */
export async function withExactBody(request: Request): Promise<Request | Response> {
  if (request.method !== 'POST') return request;
  const body = await request.clone().text();
  let parsed: ClientJson;
  try {
    parsed = parseClientJson(body);
  } catch {
    // The SDK refuses it.
    return request;
  }
  const { messages, refusal } = parsed;
  if (refusal !== undefined) {
    const { id, message } = refusal;
    const error = { code: ProtocolErrorCode.InvalidRequest, message };
    return Response.json({ jsonrpc: '2.0', error, id }, { status: 400 });
  }
  return isTooDeep(messages) ? request : new Request(request, { body: JSON.stringify(messages) });
}
