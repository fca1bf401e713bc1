import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assertFileName, ToolError } from './tool-error.ts';

/** The id of this run; outside ACOR a local one, so that a tool can be tried by hand. */
export function runId(): string {
  return process.env['RUN_ID'] || `r-local-${process.pid}`;
}

/** The folder that a tool may write to (contract §2); outside ACOR the current one. */
export function workspace(): string {
  return process.env['WORKSPACE'] || process.cwd();
}

/** The folder of the checkpoints (contract §6). */
export function checkpointDir(): string {
  return process.env['CHECKPOINT_DIR'] || join(workspace(), '.checkpoints');
}

/** Seconds until the deadline, negative after it; `undefined` without a deadline. */
export function deadlineLeftS(): number | undefined {
  const deadlineMs = Date.parse(process.env['DEADLINE_TS'] ?? '');
  return Number.isNaN(deadlineMs) ? undefined : (deadlineMs - Date.now()) / 1000;
}

/** Whether waiting for an answer extends the deadline, so that `DEADLINE_TS` may pass meanwhile. */
export function waitingStopsDeadline(): boolean {
  return process.env['ACOR_WAITING_STOPS_DEADLINE'] === '1';
}

/** Applies an extended deadline of this attempt, also to the environment of programs that are started from now on. */
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

/** The W3C ids of this attempt's span, if the runner set them (contract §1). */
export function traceFields(): { trace_id?: string; span_id?: string } {
  const { TRACE_ID: traceId = '', SPAN_ID: spanId = '' } = process.env;
  return {
    ...(/^[0-9a-f]{32}$/.test(traceId) && { trace_id: traceId }),
    ...(/^[0-9a-f]{16}$/.test(spanId) && { span_id: spanId }),
  };
}

/** Reads a secret that the manifest lists under `secrets:`; one newline at its end is removed. */
export function secret(name: string): string {
  assertFileName('secret name', name);
  const dir = process.env['SECRETS_DIR'];
  try {
    if (!dir) throw new Error('SECRETS_DIR is not set');
    return readFileSync(join(dir, name), 'utf8').replace(/\n$/, '');
  } catch (cause) {
    throw new ToolError(
      'E_ENV_MISSING',
      `the secret '${name}' is not available to this run`,
      `List '${name}' under secrets: in tool.yaml and store it with: acor secret set ${name}`,
      { cause },
    );
  }
}
