import type { Envelope } from '../compose/envelope.ts';
import type { NextStep } from '../compose/next-step.ts';
import { callerName } from '../core/policy/caller-rules.ts';
import type { CalledOperation } from '../core/ports/principal.ts';
import { isRunId } from '../protocol/run.ts';
import { openLog } from '../util/log.ts';
import type { AcorApp } from './acor-app.ts';

/** Problems of this program or its machine, not of the caller. */
const OWN_PROBLEMS = ['infra_error', 'unknown'];

/**
 * Logs a call of a server and its outcome: who, what, how long, and the code of an error. Of the input only the id of a run, because arguments
 * and messages may hold secrets.
 */
export function logCall(
  spec: string,
  { name, effect }: CalledOperation,
  input: Readonly<Record<string, unknown>>,
  { principal, surface }: Pick<AcorApp, 'principal' | 'surface'>,
  envelope: Envelope<NextStep>,
): void {
  const log = openLog(spec);
  const run = String(input['run'] ?? '');
  const fields = {
    operation: name,
    surface,
    caller: callerName(principal),
    run_id: isRunId(run) ? run : undefined,
    ms: Math.round(envelope.meta.elapsed),
  };
  if (envelope.ok) {
    log(effect === 'reads' ? 'debug' : 'info', 'call', fields);
    return;
  }
  const { code, class: kind } = envelope.error;
  log(OWN_PROBLEMS.includes(kind) ? 'error' : 'warn', 'call failed', { ...fields, code });
}
