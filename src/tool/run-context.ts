import { join } from 'node:path';

/** The id of this run; outside ACOR a local one, so that a tool can be tried by hand. */
export function runId(): string {
  return process.env['RUN_ID'] || `r-local-${process.pid}`;
}

/** The folder that a tool may write to (contract §2); outside ACOR the current one. */
export function workspace(): string {
  return process.env['WORKSPACE'] || process.cwd();
}

/** Where checkpoints are kept (contract §6). */
export function checkpointDir(): string {
  return process.env['CHECKPOINT_DIR'] || join(workspace(), '.checkpoints');
}

/** Seconds until the runner ends this run, negative once it is past; `undefined` without a deadline. */
export function deadlineLeftS(): number | undefined {
  const deadlineMs = Date.parse(process.env['DEADLINE_TS'] ?? '');
  return Number.isNaN(deadlineMs) ? undefined : (deadlineMs - Date.now()) / 1000;
}

/** Whether the deadline stands still while this run waits for an answer, so that `DEADLINE_TS` may pass meanwhile. */
export function waitingStopsDeadline(): boolean {
  return process.env['ACOR_WAITING_STOPS_DEADLINE'] === '1';
}

/** Takes over a later deadline, where this attempt was given one. It is put into the environment for programs started from now on. */
export function putOffDeadline({
  deadline_ts: deadlineTs,
  attempt,
}: {
  deadline_ts?: unknown;
  attempt?: unknown;
}): void {
  if (typeof deadlineTs !== 'string' || String(attempt) !== process.env['ACOR_ATTEMPT']) return;
  if (Date.parse(deadlineTs) > Date.parse(process.env['DEADLINE_TS'] ?? ''))
    process.env['DEADLINE_TS'] = deadlineTs;
}

/** The W3C ids of the span that this attempt is, where the runner gave them (contract §1). */
export function traceFields(): { trace_id?: string; span_id?: string } {
  const { TRACE_ID: traceId = '', SPAN_ID: spanId = '' } = process.env;
  return {
    ...(/^[0-9a-f]{32}$/.test(traceId) && { trace_id: traceId }),
    ...(/^[0-9a-f]{16}$/.test(spanId) && { span_id: spanId }),
  };
}
