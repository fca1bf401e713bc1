import { AppError } from '../../compose/app-error.ts';
import type { OperationContext, OperationResult } from '../../compose/operation.ts';
import type { RunSummary } from '../../core/run/run-summary.ts';
import type { AcorApp } from '../acor-app.ts';
import { commandOf } from '../command-forms.ts';
import type { ShownAs } from './run-start.ts';

/** How a run ended, as data shows it. */
export type ShownSummary = Omit<RunSummary, 'next'> & { next: string[] };

/** What `acor run` answers once the run is over: an exit code after a stream or a view, else an envelope. */
export function resultOf(
  summary: RunSummary,
  flags: ShownAs,
  ctx: OperationContext<AcorApp>,
): OperationResult<ShownSummary> {
  const exit = exitOf(summary, flags, ctx.app);
  const shown = { ...summary, next: summary.next.map(commandOf) };
  if (ctx.screen !== null || flags.stream) return { kind: 'streamed', exit, data: shown };
  if (summary.state !== 'failed') return { kind: 'data', data: shown, exit, next: summary.next };
  const error = new AppError(summary.code ?? 'E_UNKNOWN', summary.message ?? 'the run failed', {
    hint: summary.hint ?? undefined,
    next: summary.next,
  });
  return { kind: 'failure', error, data: shown, exit };
}

function exitOf({ state, code, rc }: RunSummary, { exit_code }: ShownAs, app: AcorApp): number {
  if (exit_code === 'tool') {
    if (state === 'cancelled') return 130;
    if (code === 'E_DEADLINE' || code === 'E_TIMEOUT') return 124;
    return state === 'completed' ? (rc ?? 0) : rc || 1;
  }
  if (state === 'completed') return 0;
  return code === null ? 1 : (app.errorInfo(code)?.exit ?? 1);
}
