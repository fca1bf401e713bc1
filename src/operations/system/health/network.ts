import type { HealthCheck } from '../../../compose/health-shape.ts';
import type { ChosenBackend } from '../../../core/sandbox/choose.ts';
import { tryEgress } from '../../../core/sandbox/egress/try-egress.ts';
import { installCommand } from '../../../core/sandbox/install-command.ts';

/** Whether tools can be given the hosts that they name, found out by giving one. */
export async function checkNetwork({ backend, probe }: ChosenBackend): Promise<HealthCheck> {
  const name = 'network';
  if (backend.opensHosts !== true) {
    return {
      name,
      status: 'degraded',
      detail: `the sandbox '${backend.name}' gives no network at all: tools with permissions.network.egress_allow are refused`,
      fix: installCommand('bubblewrap'),
    };
  }
  const trouble = await tryEgress(backend, probe);
  if (trouble === undefined) {
    return { name, status: 'ok', detail: 'a tool reaches the hosts that it names, and no other' };
  }
  return {
    name,
    status: 'degraded',
    detail: `tools with permissions.network.egress_allow are refused: ${trouble}`,
    fix: installCommand('perl', { 'apt-get': 'perl-base bubblewrap', dnf: 'perl-interpreter bubblewrap' }),
  };
}
