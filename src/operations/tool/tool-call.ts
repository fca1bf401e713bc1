import { type NextStep, runTool } from '../../protocol/next-steps.ts';
import type { AcorApp } from '../acor-app.ts';

/** The step that runs a tool with the words behind its name; undefined when the project has no such tool, or cannot be read. */
export async function toolCall(
  app: AcorApp,
  name: string,
  args: readonly string[],
): Promise<NextStep | undefined> {
  try {
    const { registry } = await app.project();
    return (await registry.list()).some((tool) => tool.name === name) ? runTool(name, args) : undefined;
  } catch {
    return undefined;
  }
}
