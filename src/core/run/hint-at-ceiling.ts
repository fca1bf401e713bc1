import type { Config } from '../../protocol/config-file.ts';
import { errorInfo } from '../../protocol/error-codes.ts';
import type { Outcome } from './outcome.ts';
import type { RunLimits } from './plan/run-plan.ts';

const CEILINGS = {
  E_DEADLINE: { key: 'max_timeout_s', limit: 'timeoutS', way: 'Give it less work', unit: 's' },
  E_OUTPUT_LIMIT: { key: 'max_output_size', limit: 'maxOutputBytes', way: 'Print less', unit: 'bytes' },
} as const;

/** The hint of a run that ended at a ceiling of the budget: no manifest and no flag raises such a limit. That of the outcome where there is no such ceiling. */
export function hintAtCeiling(
  { code, hint }: Outcome,
  limits: RunLimits,
  budget: Config['budget'],
): string | null {
  const ceiling = CEILINGS[code as keyof typeof CEILINGS];
  if (ceiling === undefined || hint === null) return hint;
  const { key, limit, way, unit } = ceiling;
  const most = budget[key];
  if (most === undefined || limits[limit] < most) return hint;
  const isOfTable = hint === errorInfo(code!)?.hint;
  const why = `budget.${key} allows no run more than ${most} ${unit}, whatever its flags and its manifest say`;
  const raise = `To raise it, write to the configuration that sets it: budget: { ${key}: ${most * 2} }`;
  return isOfTable ? `${way}: ${why}. ${raise}` : `${hint} But ${why}. ${raise}`;
}
