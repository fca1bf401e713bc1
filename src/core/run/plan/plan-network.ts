import { AcorError } from '../../../protocol/acor-error.ts';
import { SEE_HEALTH } from '../../../protocol/next-steps.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { ToolEntry } from '../../registry/registry.ts';
import { planEgress } from '../../sandbox/egress/egress-plan.ts';
import { installCommand } from '../../sandbox/install-command.ts';
import type { SandboxBackend, SandboxRequest } from '../../sandbox/sandbox.ts';

/**
 * What a tool gets of the network: that of the machine when it is privileged, else the hosts that its manifest names. A sandbox that cannot
 * open it gives none, and is never given a tool that asks for some. Throws for entries that cannot be opened.
 */
export function networkOf(
  { config }: Pick<LoadedConfig, 'config'>,
  { name, manifest }: ToolEntry,
  backend: SandboxBackend,
): Pick<SandboxRequest, 'network' | 'egress'> {
  const { level, network } = manifest.permissions;
  const [host] = network.egress_allow;
  const opensHosts = backend.opensHosts === true;
  // Without a sandbox there is nothing to open.
  if (host !== undefined && !opensHosts && backend.tier < 3) throw cannotOpen(name, host, backend);
  if (level === 'privileged') return { network: opensHosts ? 'host' : 'none' };
  if (host === undefined) return { network: 'none' };
  return { network: 'listed', egress: planEgress(name, network.egress_allow, config.security) };
}

function cannotOpen(tool: string, host: string, { name }: SandboxBackend): AcorError {
  return new AcorError(
    'E_SANDBOX_UNAVAILABLE',
    `tool '${tool}' asks for the network (${host}), and the sandbox '${name}' cannot open it host by host`,
    {
      hint: `Install bubblewrap: ${installCommand('bubblewrap')}; or take egress_allow out of the tool's manifest.`,
      next: [SEE_HEALTH],
    },
  );
}
