import type { HealthCheck } from '../../../compose/health-shape.ts';
import { policyPaths } from '../../../core/guard/policy-paths.ts';
import { readPolicies } from '../../../core/guard/read-policy.ts';
import { AcorError } from '../../../protocol/acor-error.ts';
import type { Project } from '../../acor-app.ts';

/** Which policy files are in force, and what is wrong with them: a wrong one lets no tool run. */
export async function checkPolicy(
  { config }: Project,
  env: Readonly<Record<string, string | undefined>>,
): Promise<HealthCheck[]> {
  const paths = policyPaths(config.root, env);
  const checks: HealthCheck[] = [];
  for (const path of paths) {
    const detail = `${path.source}: ${path.file}`;
    try {
      await readPolicies([path], env);
      checks.push({ name: `policy.${path.source}`, status: 'ok', detail });
    } catch (error) {
      if (!(error instanceof AcorError)) throw error;
      const fix = error.hint ?? `Mend ${path.file}.`;
      checks.push({ name: `policy.${path.source}`, status: 'blocked', detail: error.message, fix });
    }
  }
  if (checks.length > 0) return checks;
  return [{ name: 'policy', status: 'ok', detail: 'no policy file; what is built in holds' }];
}
