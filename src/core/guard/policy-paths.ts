import { join } from 'node:path';
import { isNamed, userFolder } from '../config/find.ts';
import type { PolicySource } from '../policy/policy-layer.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The path of the system's policy. No variable changes it, because the user of ACOR must not choose it. */
export const SYSTEM_POLICY_FILE = '/etc/acor/policy.yaml';

/** The existing policy files in order of precedence. */
export function policyPaths(
  projectRoot: string,
  env: Env,
  systemFile: string = SYSTEM_POLICY_FILE,
): { source: PolicySource; file: string }[] {
  const all = [
    { source: 'system', file: systemFile },
    { source: 'user', file: join(userFolder('XDG_CONFIG_HOME', '.config', env), 'policy.yaml') },
    { source: 'project', file: join(projectRoot, '.acor', 'policy.yaml') },
  ] as const;
  return all.filter(({ file }) => isNamed(file));
}
