import { AcorError } from '../../protocol/acor-error.ts';
import type { Manifest } from '../../protocol/manifest.ts';
import { checkAgainstPolicy } from '../../protocol/next-steps.ts';
import { kindOfName } from '../../protocol/run.ts';
import type { Places } from './reach.ts';

/** Everything that a run requests, as far as it is known. */
export interface Asked {
  tool: string;
  manifest: Manifest;
  /** SHA-256 of the manifest's bytes; null when the tool has none. */
  manifestSha256: string | null;
  /** The time limit that the caller requests. */
  timeoutS: number | undefined;
  /** Path arguments, including files that do not exist yet. Absolute and real. */
  grants: readonly { path: string; access: 'read' | 'write'; input: string }[];
  /** The strength of the sandbox, 1 being the strongest; null while it is unknown. */
  tier: number | null;
  places: Places;
}

/** A request that the policy does not allow. */
export interface Violation {
  /** Its place: a key of the manifest, or an argument. */
  path: string;
  asked: unknown;
  allowed: unknown;
  /** The line that forbids it, `file:line:column`, or the name of the built-in rules. */
  by: string;
  /** In words. */
  rule: string;
  fix: string;
}

/** Whether a tool may run, and all violations. */
export interface Decision {
  allowed: boolean;
  violations: Violation[];
}

/** Throws E_POLICY_DENIED with all violations; does nothing without violations. `args` are those of the call, unless one is a secret. */
export function refuseViolations(
  tool: string,
  violations: readonly Violation[],
  args: readonly string[] = [],
): void {
  if (violations.length === 0) return;
  throw new AcorError(
    'E_POLICY_DENIED',
    `tool '${tool}' requests more than the policy allows: ${violations.map(({ rule }) => rule).join('; ')}`,
    {
      hint: violations.map(({ fix }) => fix).join(' '),
      details: { violations },
      // The executor of a task is not a tool of the registry.
      next: kindOfName(tool) === 'task' ? [] : [checkAgainstPolicy(tool, args)],
    },
  );
}
