import type { RunnerServices } from '../../run/services.ts';
import { stagesOf } from './pipe-call.ts';

/** Whether a pipe of these command lines may wait for an answer. */
export async function mayAsk({ registry }: RunnerServices, lines: readonly string[]): Promise<boolean> {
  for (const { tool } of stagesOf(lines)) {
    // An unknown tool is reported, with its place, when the pipe is planned.
    const found = await registry.find(tool).catch(() => undefined);
    if (found !== undefined && found.manifest.actions.length > 0) return true;
  }
  return false;
}
