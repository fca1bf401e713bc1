import { AppError } from '../compose/app-error.ts';
import { callerName } from '../core/policy/caller-rules.ts';
import type { CalledOperation } from '../core/ports/principal.ts';
import { RUN_ID_PATTERN } from '../protocol/run.ts';
import { openLog } from '../util/log.ts';
import type { AcorApp } from './acor-app.ts';

/** Problems of this program or its machine, not of the caller. */
const OWN_PROBLEMS = ['infra_error', 'unknown'];

/**
 * Logs a call when it is answered: who, what, how long, and the code of an error. Of the input only the id of a run, because arguments and
 * messages may hold secrets.
 */
export function callLog(
  spec: string,
  { name, effect }: CalledOperation,
  input: Readonly<Record<string, unknown>>,
  app: Pick<AcorApp, 'principal' | 'surface' | 'errorInfo'>,
): (error: unknown) => void {
  const log = openLog(spec);
  const begun = performance.now();
  const run = String(input['run'] ?? '');
  const fields = {
    operation: name,
    surface: app.surface,
    caller: callerName(app.principal),
    run_id: RUN_ID_PATTERN.test(run) ? run : undefined,
  };
  return (error) => {
    const ms = Math.round(performance.now() - begun);
    if (error === undefined) return log(effect === 'reads' ? 'debug' : 'info', 'call', { ...fields, ms });
    const code = error instanceof AppError ? error.code : 'E_UNKNOWN';
    const isOwn = OWN_PROBLEMS.includes(app.errorInfo(code)?.class ?? 'unknown');
    log(isOwn ? 'error' : 'warn', 'call failed', { ...fields, ms, code });
  };
}
