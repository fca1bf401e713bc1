import { AcorError } from '../../protocol/acor-error.ts';
import type { Violation } from '../policy/decision.ts';

/** Throws E_POLICY_DENIED with all violations; does nothing without violations. */
export function refuseViolations(tool: string, violations: readonly Violation[]): void {
  if (violations.length === 0) return;
  throw new AcorError(
    'E_POLICY_DENIED',
    `tool '${tool}' requests more than the policy allows: ${violations.map(({ rule }) => rule).join('; ')}`,
    {
      hint: violations.map(({ fix }) => fix).join(' '),
      details: { violations },
      next: [{ operation: 'policy.check', input: { tool }, why: 'Check the tool against the policy.' }],
    },
  );
}
