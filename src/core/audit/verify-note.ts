import type { RunRecord } from '../../protocol/run-record.ts';
import { isFinal } from '../../protocol/run-state.ts';
import type { CheckedLog } from './verify-log.ts';

/** What a seal cannot vouch for, in words: a run that goes on, that was cut short, or that was sealed by another process later. */
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
  if (isLive) return `The run is going on. ${rest}`;
  const torn =
    tornBytes === 0
      ? ''
      : ` The ${tornBytes} bytes of a last line without an end were never acknowledged and do not count.`;
  return `The run was cut short: its supervisor is gone. ${rest}${torn} Recovering the run ends it and seals what is there.`;
}

/** Whoever ends a run for a supervisor that died can only seal what it finds. */
function lateSeal(from: number, to: number): string {
  return `The supervisor that wrote the events from ${from} on died; they were sealed by event ${to}, by the process that ended the run for it, and are vouched for from then on.`;
}

function firstAfterEndBefore({ ends }: CheckedLog, number: number): number {
  return (ends.findLast((end) => end.number < number)?.number ?? 0) + 1;
}
