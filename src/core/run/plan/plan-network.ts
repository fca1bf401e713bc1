import { AcorError } from '../../../protocol/acor-error.ts';
import type { PermissionLevel } from '../../../protocol/manifest-permissions.ts';
import { execProgram } from '../../../protocol/names.ts';
import { SEE_HEALTH } from '../../../protocol/next-steps.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { placeOf } from '../../registry/manifest-place.ts';
import type { ToolEntry } from '../../registry/registry.ts';
import { planEgress } from '../../sandbox/egress/egress-plan.ts';
import type { SandboxBackend, SandboxRequest } from '../../sandbox/sandbox.ts';
import { installCommand } from '../../sandbox/trusted-program.ts';

/**
 * The network access of a tool: a privileged tool gets the machine's network, any other tool the hosts that its manifest lists. A
 * sandbox that cannot filter by host gives no network. With `on_denied: ask` a tool without hosts gets a network, too, in which it can ask. Throws when the manifest lists hosts and the sandbox cannot open them.
 */
export function networkOf(
  { config }: Pick<LoadedConfig, 'config'>,
  tool: ToolEntry,
  backend: SandboxBackend,
): Pick<SandboxRequest, 'network' | 'egress'> {
  const { name, manifest } = tool;
  const { permissions, secret_injections: injections = [] } = manifest;
  const { level, network } = permissions;
  const [host] = network.egress_allow;
  const opensHosts = backend.opensHosts === true;
  // Tier 3 is no sandbox: it does not restrict the network.
  if (host !== undefined && !opensHosts && backend.tier < 3) throw cannotOpen(name, host, backend);
  const requests = network.http_rules ?? [];
  const isRead = injections.length + requests.length > 0;
  if (isRead && (level === 'privileged' || backend.endsTls !== true)) throw cannotRead(name, level, backend);
  if (level === 'privileged') return { network: opensHosts ? 'host' : 'none' };
  const asks = config.security.on_denied === 'ask' && opensHosts;
  if (host === undefined && !asks) return { network: 'none' };
  const egress = planEgress(name, network.egress_allow, config.security, { injections, requests });
  const place = execProgram(name) === undefined ? placeOf(tool, 'permissions.network.egress_allow') : null;
  return { network: 'listed', egress: { ...egress, manifest: place, ...(asks && { asks }) } };
}

function cannotRead(tool: string, level: PermissionLevel, { name: backend }: SandboxBackend): AcorError {
  const isPrivileged = level === 'privileged';
  const here = backend === 'none' ? 'without a sandbox' : `in the sandbox '${backend}'`;
  const why = isPrivileged ? 'for a privileged tool' : here;
  const fix = isPrivileged ? 'Request less' : `Install bubblewrap: ${installCommand('bubblewrap')}`;
  return new AcorError(
    'E_SANDBOX_UNAVAILABLE',
    `the manifest of tool '${tool}' has secrets or rules for its requests, which ACOR cannot read ${why}`,
    {
      hint: `${fix}; or remove inject from its secrets, so that the tool gets their values, and list its hosts as host:port.`,
      next: [SEE_HEALTH],
    },
  );
}

function cannotOpen(tool: string, host: string, { name }: SandboxBackend): AcorError {
  const less =
    execProgram(tool) === undefined ? "remove egress_allow from the tool's manifest" : 'leave out --net';
  return new AcorError(
    'E_SANDBOX_UNAVAILABLE',
    `tool '${tool}' needs network access to ${host}, and the sandbox '${name}' cannot allow single hosts`,
    {
      hint: `Install bubblewrap: ${installCommand('bubblewrap')}; or ${less}.`,
      next: [SEE_HEALTH],
    },
  );
}
