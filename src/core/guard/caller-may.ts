import type { CallerAction } from '../../protocol/policy-file.ts';
import { callerViolations } from '../policy/caller-rules.ts';
import type { Violation } from '../policy/decision.ts';
import type { Principal } from '../ports/principal.ts';
import { policyPaths } from './policy-paths.ts';
import { readPolicies } from './read-policy.ts';

/** What the policy files have against these actions of a caller. Throws E_CONFIG_INVALID for an invalid file. */
export async function violationsOfCaller(
  actions: readonly CallerAction[],
  caller: Principal,
  { root, env }: { root: string; env: Readonly<Record<string, string | undefined>> },
): Promise<Violation[]> {
  const layers = await readPolicies(policyPaths(root, env), env);
  return actions.flatMap((action) => callerViolations(action, caller, layers));
}
