import type { CliApp } from './cli-app.ts';
import type { Envelope } from './envelope.ts';
import { type Allowed, callTool, offeredTools, withCommands } from './offered-tools.ts';

/** A command as the function that an API of a model calls. */
export interface FunctionTool {
  name: string;
  description: string;
  /** JSON Schema of the input. */
  parameters: Record<string, unknown>;
  call(input: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<Envelope<string>>;
}

/** The commands of a program as functions for a model; `allow` is what they may do at most. */
export async function functionTools<C>(
  app: CliApp<C>,
  { allow = 'destroys' }: { allow?: Allowed } = {},
): Promise<FunctionTool[]> {
  return (await offeredTools(app, allow)).map(({ name, op, inputSchema }) => ({
    name,
    description: `${op.summary} Effect: ${op.effect}.`,
    parameters: inputSchema,
    call: async (input, signal = new AbortController().signal) =>
      withCommands(app, await callTool(app, op, input, { signal })),
  }));
}
