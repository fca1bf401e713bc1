import { ProtocolError, type ReadResourceResult } from '@modelcontextprotocol/server';
import type { ToolResource } from '../operations/project/published.ts';
import { offeredTools, wordsForTool } from '../operations/tool/offered-tools.ts';
import type { Host, OpenHost } from './host.ts';
import { runResult } from './run-result.ts';
import { thrownResult } from './tool-result.ts';

/** A client does not wait longer for a resource. */
const LIMIT_MS = 45_000;

/** Runs the tool of a resource; the data of its result is the content. */
export async function readToolResource(
  host: Host,
  open: OpenHost,
  { uri, resource, inputs }: { uri: string; resource: ToolResource; inputs: Record<string, string> },
  signal: AbortSignal,
): Promise<ReadResourceResult> {
  const { tool, mimeType } = resource;
  const offered = (await offeredTools(open.app)).find(({ name }) => name === tool);
  if (offered === undefined) throw failed(uri, `the tool ${tool} does not exist or is invalid`);
  // A client reads resources without asking anyone.
  if (!offered.effects.readsOnly)
    throw failed(uri, `the tool ${tool} may change something: its manifest needs \`effects: reads\``);
  const { properties = {} } = offered.inputSchema;
  const values = Object.entries(inputs).map(([name, text]) => [name, valueOfText(properties[name], text)]);
  const words = await wordsForTool(open.app, tool, Object.fromEntries(values)).catch((error) => {
    throw failed(uri, wordsOf(thrownResult(host, error)));
  });
  const started = await open.call('run.start', { tool, args: words, detach: true }, { signal });
  if (!started.ok) throw failed(uri, `${started.error.code}: ${started.error.message}`);
  const { run_id: run } = started.data as { run_id: string };
  const limit = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
  await open.call('run.attach', { run, since: 0 }, { signal: limit });
  const result = await runResult(host, open, run);
  const { state, data } = result.structuredContent as { state?: string; data?: unknown };
  if (result.isError === true || state !== 'completed')
    throw failed(uri, `the run ${run} has not completed: ${wordsOf(result)}`);
  const text = typeof data === 'string' ? data : JSON.stringify(data ?? null);
  const type = mimeType ?? (typeof data === 'string' ? 'text/plain' : 'application/json');
  return { contents: [{ uri, mimeType: type, text }] };
}

/** A variable of an address as the value that its input takes; the check of the inputs reports any other text. */
function valueOfText(schema: unknown, text: string): unknown {
  const { type, items } = (schema ?? {}) as { type?: unknown; items?: unknown };
  switch (type) {
    case 'integer':
    case 'number':
    case 'boolean':
    case 'object':
    case undefined:
      return valueOfJson(text);
    case 'array':
      return [valueOfText(items, text)];
    default:
      return text;
  }
}

function valueOfJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function wordsOf({ content }: Awaited<ReturnType<typeof runResult>>): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

function failed(uri: string, why: string): ProtocolError {
  return new ProtocolError(-32602, `${uri} cannot be read: ${why}`, { uri });
}
