import { isFinal } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { CheckedLog } from './verify-log.ts';

/** A note on events that no seal covers, or that another process sealed later: of a live run, a lost run, or a recovered run. */
export function noteOn(record: RunRecord, log: CheckedLog, isLive: boolean): string | null {
  const notes = log.ends
    .filter(({ event, number }) => event.late === true && number <= log.sealedEvents)
    .map(({ number }) => lateSeal(firstAfterEndBefore(log, number), number));
  if (!isFinal(record.state)) notes.push(unsealed(log, isLive));
  return notes.length === 0 ? null : notes.join(' ');
}

function unsealed({ events, sealedEvents, tornBytes }: CheckedLog, isLive: boolean): string {
  const sealed = sealedEvents === 0 ? 'No event is sealed yet' : `It is verified up to event ${sealedEvents}`;
  const rest = `${sealed}; of the ${events - sealedEvents} after that only the order was checked.`;
  if (isLive) return `The run is live. ${rest}`;
  const torn =
    tornBytes === 0
      ? ''
      : ` The last line is torn: its ${tornBytes} bytes were never acknowledged and do not count.`;
  return `The run is lost: its supervisor is gone. ${rest}${torn} Recovery will end the run and seal the present events.`;
}

/** Recovery seals the events that it finds; it cannot detect a change from before. */
function lateSeal(from: number, to: number): string {
  return `The supervisor that wrote the events from ${from} on died before it sealed them. Recovery sealed them with event ${to}: an earlier change of them cannot be detected.`;
}

function firstAfterEndBefore({ ends }: CheckedLog, number: number): number {
  return (ends.findLast((end) => end.number < number)?.number ?? 0) + 1;
}
