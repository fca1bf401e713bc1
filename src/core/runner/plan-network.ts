import { AcorError } from '../../protocol/acor-error.ts';
import type { Config } from '../../protocol/config-file.ts';
import type { ToolEntry } from '../registry/registry.ts';
import { installCommand } from '../sandbox/install-command.ts';
import type { SandboxBackend, SandboxRequest } from '../sandbox/sandbox.ts';

/** What a tool gets of the network: nothing, or the hosts that its manifest names. Throws for entries that cannot be opened. */
export async function networkOf(
  security: Config['security'],
  { name, manifest }: ToolEntry,
): Promise<Pick<SandboxRequest, 'network' | 'egress'>> {
  const asked = manifest.permissions.network.egress_allow;
  if (asked.length === 0) return { network: 'none' };
  const { planEgress } = await import('../sandbox/egress/egress-plan.ts');
  return { network: 'listed', egress: planEgress(name, asked, security) };
}

/** No sandbox that cannot open hosts one by one is given a tool that asks for some; without a sandbox there is nothing to open. */
export function assertOpensHosts({ name, manifest }: ToolEntry, backend: SandboxBackend): void {
  if (backend.opensHosts === true || backend.tier > 2) return;
  const [host] = manifest.permissions.network.egress_allow;
  throw new AcorError(
    'E_SANDBOX_UNAVAILABLE',
    `tool '${name}' asks for the network (${host}), and the sandbox '${backend.name}' cannot open it host by host`,
    {
      hint: `Have bubblewrap: ${installCommand('bubblewrap')}; or take egress_allow out of the tool's manifest.`,
      next: ['acor health'],
    },
  );
}
