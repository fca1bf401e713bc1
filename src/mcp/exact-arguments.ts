import { Transform } from 'node:stream';
import { STDIO_DEFAULT_MAX_BUFFER_SIZE } from '@modelcontextprotocol/server';
import { isTooDeep, parseExact } from '../util/exact-json.ts';

/**
 * The JSON of a client with the arguments of its calls in a form that the SDK passes on whole: it would change numbers that a program cannot hold,
 * and drop an argument called `__proto__`, so that nothing could refuse them.
 */
export function withExactArguments(json: string): string {
  if (!/tools\\?\/call/.test(json)) return json;
  let messages: unknown;
  try {
    messages = parseExact(json);
  } catch {
    // The SDK refuses it.
    return json;
  }
  if (isTooDeep(messages)) return json;
  for (const each of [messages].flat()) {
    const params = objectIn(each, 'params');
    const given = objectIn(params, 'arguments');
    // acor_run has the arguments of another tool among its own.
    renameProto(given, 'arguments');
    renameProto(params, 'arguments');
  }
  return JSON.stringify(messages);
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

/** The same for the lines of a client on standard input. */
export function exactLines(): Transform {
  let held: Buffer[] = [];
  let size = 0;
  const take = (chunk: Buffer) => {
    const taken = Buffer.concat([...held, chunk]);
    held = [];
    size = 0;
    return taken;
  };
  return new Transform({
    transform(chunk: Buffer, _, done) {
      const end = chunk.lastIndexOf(10) + 1;
      const lines = end > 0 ? take(chunk.subarray(0, end)).toString('utf8').split('\n') : [];
      if (end < chunk.length) held.push(chunk.subarray(end));
      size += chunk.length - end;
      if (lines.length > 0) this.push(lines.map(withExactArguments).join('\n'));
      // The SDK closes a connection with so long a line.
      if (size > STDIO_DEFAULT_MAX_BUFFER_SIZE) this.push(take(Buffer.alloc(0)));
      done();
    },
  });
}

/** The same for the request of a client by HTTP. */
export async function withExactBody(request: Request): Promise<Request> {
  if (request.method !== 'POST') return request;
  const body = await request.clone().text();
  const exact = withExactArguments(body);
  return exact === body ? request : new Request(request, { body: exact });
}
