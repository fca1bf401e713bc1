import { AcorError } from '../../../protocol/acor-error.ts';
import type { SecretInjection } from '../../../protocol/manifest-secrets.ts';
import { SEE_HEALTH } from '../../../protocol/next-steps.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { ToolEntry } from '../../registry/registry.ts';
import { planEgress } from '../../sandbox/egress/egress-plan.ts';
import type { SandboxBackend, SandboxRequest } from '../../sandbox/sandbox.ts';
import { installCommand } from '../../sandbox/trusted-program.ts';

/**
 * The network access of a tool: a privileged tool gets the machine's network, any other tool the hosts that its manifest lists. A
 * sandbox that cannot filter by host gives no network. Throws when the manifest lists hosts and the sandbox cannot open them.
 */
export function networkOf(
  { config }: Pick<LoadedConfig, 'config'>,
  { name, manifest }: ToolEntry,
  backend: SandboxBackend,
): Pick<SandboxRequest, 'network' | 'egress'> {
  const { permissions, secret_injections: injections = [] } = manifest;
  const { level, network } = permissions;
  const [host] = network.egress_allow;
  const opensHosts = backend.opensHosts === true;
  // Tier 3 is no sandbox: it does not restrict the network.
  if (host !== undefined && !opensHosts && backend.tier < 3) throw cannotOpen(name, host, backend);
  const [injected] = injections;
  if (injected !== undefined && backend.injectsSecrets !== true) throw cannotInject(name, injected, backend);
  if (level === 'privileged') return { network: opensHosts ? 'host' : 'none' };
  if (host === undefined) return { network: 'none' };
  return { network: 'listed', egress: planEgress(name, network.egress_allow, config.security, injections) };
}

function cannotInject(
  tool: string,
  { name: secret }: SecretInjection,
  { name: backend }: SandboxBackend,
): AcorError {
  const here = backend === 'none' ? 'without a sandbox' : `in the sandbox '${backend}'`;
  return new AcorError(
    'E_SANDBOX_UNAVAILABLE',
    `tool '${tool}' has the secret ${secret} put into its requests, which is not possible ${here}`,
    {
      hint: `Install bubblewrap: ${installCommand('bubblewrap')}; or remove inject from the secret, so that the tool gets its value.`,
      next: [SEE_HEALTH],
    },
  );
}

function cannotOpen(tool: string, host: string, { name }: SandboxBackend): AcorError {
  return new AcorError(
    'E_SANDBOX_UNAVAILABLE',
    `tool '${tool}' needs network access to ${host}, and the sandbox '${name}' cannot allow single hosts`,
    {
      hint: `Install bubblewrap: ${installCommand('bubblewrap')}; or remove egress_allow from the tool's manifest.`,
      next: [SEE_HEALTH],
    },
  );
}
