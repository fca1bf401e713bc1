import { InputPipe } from '../../process/input-pipe.ts';
import type { RecordFeed } from '../records/record-feed.ts';
import type { AttemptContext } from './attempt-context.ts';

/** A tool's standard input: the answers to its questions, or the records of another run. */
export type ToolInput = InputPipe | RecordFeed;

/** Opens the standard input of a tool that reads records or answers; undefined for any other tool, whose input is empty. */
export async function openInput({
  services,
  plan,
  writer,
  race,
  adapter,
}: AttemptContext): Promise<ToolInput | undefined> {
  const { manifest } = plan.tool;
  if (manifest.stdin === 'records') {
    if (plan.reads === undefined) return undefined;
    const { RecordFeed } = await import('../records/record-feed.ts');
    return new RecordFeed(services, writer, plan.reads, (reason) => race.end({ kind: 'cancelled', reason }));
  }
  const hearsAnswers = manifest.actions.length > 0 && !adapter.hearsNoAnswers;
  return hearsAnswers ? new InputPipe(services.runtime, writer.layout.control) : undefined;
}
