import { dynamicTool, jsonSchema, type ToolSet } from 'ai';
import type { Acor } from '../library.ts';
import type { FunctionToolsOptions } from '../operations/library-options.ts';

/**
 * The tools of the project for the Vercel AI SDK, by name: `generateText({ tools: await acorTools(acor) })`. Each result is a value for the
 * model, also a failure. With `limitS`, a call whose run takes longer resolves with the state `running`, and `acor_wait` waits for it.
 * Aborting the generation cancels the runs that it started.
 */
export async function acorTools(acor: Acor, options: FunctionToolsOptions = {}): Promise<ToolSet> {
  const tools = await acor.functionTools(options);
  return Object.fromEntries(
    tools.map(({ name, description, parameters, execute }) => [
      name,
      dynamicTool({
        description,
        inputSchema: jsonSchema(parameters),
        execute: (input, { abortSignal }) =>
          execute(input as Record<string, unknown>, { ...(abortSignal && { signal: abortSignal }) }),
      }),
    ]),
  );
}
