import { InputPipe } from '../process/input-pipe.ts';
import type { RunWriter } from '../storage/run-store.ts';
import type { EndingRace } from './ending.ts';
import type { ToolPlan } from './plan.ts';
import type { RecordFeed } from './records/record-feed.ts';
import type { RunnerServices } from './services.ts';

/** What a tool reads on its standard input: the records of another run, or the answers to its questions; for any other tool it is at its end. */
export async function openInput(
  services: RunnerServices,
  { tool: { manifest }, reads }: ToolPlan,
  writer: RunWriter,
  race: EndingRace,
): Promise<InputPipe | RecordFeed | undefined> {
  if (manifest.stdin === 'records') {
    if (reads === undefined) return undefined;
    const { RecordFeed } = await import('./records/record-feed.ts');
    return new RecordFeed(services, writer, reads, (reason) => race.end({ kind: 'cancelled', reason }));
  }
  return manifest.actions.length > 0 ? new InputPipe(services.runtime, writer.layout.control) : undefined;
}
