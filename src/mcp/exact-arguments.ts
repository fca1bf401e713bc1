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

/** The same for the request of a client by HTTP. */
export async function withExactBody(request: Request): Promise<Request> {
  if (request.method !== 'POST') return request;
  const body = await request.clone().text();
  const exact = withExactArguments(body);
  return exact === body ? request : new Request(request, { body: exact });
}
