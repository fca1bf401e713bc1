import type { AgentDecision } from '../../protocol/policy-file.ts';
import { policyPaths } from './policy-paths.ts';

/**
 * Whether callers without a person may decide this. A file of the user or of the system must say so, and no file may leave it out. Throws
 * E_CONFIG_INVALID for an invalid file.
 */
export async function agentsMay(
  decision: AgentDecision,
  { root, env }: { root: string; env: Readonly<Record<string, string | undefined>> },
): Promise<boolean> {
  const paths = policyPaths(root, env);
  if (paths.length === 0) return false;
  const { readPolicies } = await import('./read-policy.ts');
  const layers = await readPolicies(paths, env);
  const naming = layers.filter(({ policy }) => policy.agents_may !== undefined);
  return (
    naming.some(({ source }) => source !== 'project') &&
    naming.every(({ policy }) => policy.agents_may!.includes(decision))
  );
}
