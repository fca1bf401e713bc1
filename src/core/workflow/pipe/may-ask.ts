import type { RunnerServices } from '../../run/services.ts';
import { stagesOf } from './pipe-call.ts';

/** Whether a pipe, of these command lines, may come to stand still for an answer. */
export async function mayAsk({ registry }: RunnerServices, lines: readonly string[]): Promise<boolean> {
  for (const { tool } of stagesOf(lines)) {
    // One that is not there is told of when the pipe is planned, with its place.
    const found = await registry.find(tool).catch(() => undefined);
    if (found !== undefined && found.manifest.actions.length > 0) return true;
  }
  return false;
}
