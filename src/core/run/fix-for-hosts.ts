import { join } from 'node:path';
import { userFolder } from '../config/find.ts';
import { listEntry, remedySentence } from '../policy/explain-denial.ts';
import { type EgressSettings, isClosedBy } from '../sandbox/egress/egress-plan.ts';
import { readHostAndPort, withPort } from '../sandbox/egress/host.ts';
import { installCommand } from '../sandbox/trusted-program.ts';
import type { ToolPlan } from './plan/tool-plan.ts';

/** The fix for denied hosts, after what a sandbox needs that cannot open single hosts. */
export function fixForHosts(
  fix: string,
  { sandboxed: { opensHosts, isolation } }: Pick<ToolPlan, 'sandboxed'>,
): string {
  if (opensHosts) return fix;
  const first = `install bubblewrap (${installCommand('bubblewrap')}), because the sandbox '${isolation.backend}' cannot allow single hosts`;
  return `${first}; then ${inSentence(fix)}`;
}

/** The same for one host and port. An address that is not public needs a setting, too. */
export function fixForHost(
  fix: string,
  { host, port }: { host: string; port: number },
  plan: Pick<ToolPlan, 'sandboxed' | 'callerEnv'>,
  settings: EgressSettings,
): string {
  const at = withPort(host, port);
  const read = readHostAndPort(at);
  if (read === undefined || !isClosedBy(settings, read.host, port)) return fixForHosts(fix, plan);
  const file = join(userFolder('XDG_CONFIG_HOME', '.config', plan.callerEnv), 'config.yaml');
  const setting = remedySentence({ file, path: 'security.allow_private_egress', line: listEntry(at) });
  return fixForHosts(`${setting}, because the address is not public; then ${inSentence(fix)}`, plan);
}

function inSentence(fix: string): string {
  return fix.replace(/^In /, 'in ');
}
