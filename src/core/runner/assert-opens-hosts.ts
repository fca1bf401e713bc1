import { AcorError } from '../../protocol/acor-error.ts';
import type { ToolEntry } from '../registry/registry.ts';
import { installCommand } from '../sandbox/install-command.ts';
import type { SandboxBackend } from '../sandbox/sandbox.ts';

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
