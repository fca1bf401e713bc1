import { callsFor, type Observed } from './observe.ts';
import { fieldsOf, payloadOf } from './printed.ts';

/** The catalog that `tools` printed. */
export interface PrintedCatalog {
  tools: Record<string, unknown>[];
  globalFlags: unknown;
}

/** The catalog of a program; undefined when `tools` prints none. */
export function catalogOf(observed: Observed): PrintedCatalog | undefined {
  const [call] = callsFor(observed, 'tools');
  const payload = call?.rc === 0 ? payloadOf(call.stdout) : undefined;
  const list = Array.isArray(payload) ? payload : fieldsOf(payload)?.['tools'];
  if (!Array.isArray(list)) return undefined;
  const tools = list.map(fieldsOf).filter((each) => each !== undefined);
  return { tools, globalFlags: fieldsOf(payload)?.['globalFlags'] };
}

/** What `health` reported, also where it reported it as a failure; undefined when it is no report. */
export function healthOf(observed: Observed): Record<string, unknown> | undefined {
  const [call] = callsFor(observed, 'health');
  if (call === undefined) return undefined;
  const payload = fieldsOf(payloadOf(call.stdout));
  if (payload?.['checks'] !== undefined || typeof payload?.['status'] === 'string') return payload;
  const error = fieldsOf(fieldsOf(parsedLine(call.stdout))?.['error']);
  const details = fieldsOf(error?.['details']);
  return details?.['checks'] === undefined ? undefined : details;
}

function parsedLine(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
