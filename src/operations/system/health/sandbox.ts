import type { HealthCheck } from '../../../compose/health-shape.ts';
import {
  BACKENDS,
  type ChosenBackend,
  chooseBackend,
  type IsolationMode,
} from '../../../core/sandbox/choose.ts';
import { canGiveUsers, FIRST_RUN_UID, LAST_RUN_UID } from '../../../core/sandbox/identity/run-users.ts';
import { observerProblem } from '../../../core/sandbox/observer.ts';
import { selfTest, tryEgress } from '../../../core/sandbox/self-test.ts';
import { installCommand } from '../../../core/sandbox/trusted-program.ts';
import { AcorError } from '../../../protocol/acor-error.ts';
import { SEE_HEALTH } from '../../../protocol/next-steps.ts';
import type { Project } from '../../acor-app.ts';
import { fixText, type WriteCommand } from '../../command-forms.ts';

const OFF = "Run only tools that you trust, or set security.isolation: 'preferred' in .acor/config.yaml.";

/** Checks how tools are confined on this machine. Probes the sandbox again instead of using the cached result. */
export async function checkSandbox({ config }: Project, commandOf: WriteCommand): Promise<HealthCheck[]> {
  const mode = config.config.security.isolation;
  try {
    const chosen = await chooseBackend(config.config.security, null);
    if (mode === 'off') {
      return [{ name: 'sandbox', status: 'ok', detail: `off by configuration: ${chosen.probe.detail}` }];
    }
    return [
      await checkChosen(chosen, mode),
      await checkBySelfTest(chosen, commandOf),
      checkIdentity(),
      await checkNetwork(chosen),
      checkObserver(),
    ];
  } catch (error) {
    if (!(error instanceof AcorError)) throw error;
    return [{ name: 'sandbox', status: 'blocked', detail: error.message, fix: error.hint ?? OFF }];
  }
}

/** Reports a sandbox that is weaker than possible, with the fix that enables a stronger one. */
async function checkChosen({ backend, probe }: ChosenBackend, mode: IsolationMode): Promise<HealthCheck> {
  const detail = `${backend.name}: ${probe.detail} (security.isolation: ${mode})`;
  if (backend.tier === 1) return { name: 'sandbox', status: 'ok', detail };
  if (backend.name === 'seatbelt') {
    const fix = 'Run ACOR on Linux, in a virtual machine or a container, for a sandbox that is tested.';
    return {
      name: 'sandbox',
      status: 'degraded',
      detail: `${detail}; processor, memory and programs are not limited`,
      fix,
    };
  }
  const stronger = await Promise.all(
    BACKENDS.filter(({ tier, platform }) => tier < backend.tier && platform === process.platform).map(
      async ({ name, load }) => ({
        name,
        ...(await (await load()).probe()),
      }),
    ),
  );
  const [first] = stronger;
  const why = stronger.map((each) => `${each.name}: ${each.detail}`).join('; ');
  return {
    name: 'sandbox',
    status: 'degraded',
    detail: `${detail}; it hides neither processes nor the names of folders, and has no network. Stronger: ${why}`,
    fix: first?.fix ?? installCommand('bubblewrap'),
  };
}

async function checkBySelfTest(
  { backend, probe }: ChosenBackend,
  commandOf: WriteCommand,
): Promise<HealthCheck> {
  const { breaches, trouble } = await selfTest(backend, probe);
  const name = 'sandbox.selftest';
  if (trouble === undefined && breaches.length === 0) {
    return { name, status: 'ok', detail: 'escape test: contained' };
  }
  return {
    name,
    status: 'blocked',
    detail: trouble ?? `a tool ${breaches.join(', ')}`,
    fix: fixText(
      { fix: 'Update bubblewrap and the kernel, then check again', next: [SEE_HEALTH] },
      commandOf,
    ),
  };
}

function checkIdentity(): HealthCheck {
  const detail = canGiveUsers()
    ? `root: each run has a user of its own (uid ${FIRST_RUN_UID} to ${LAST_RUN_UID}), which owns the writable paths of the run until its end`
    : 'tools run as this user, without privileges';
  return { name: 'sandbox.identity', status: 'ok', detail };
}

/** Checks whether tools can reach the hosts that they declare, by opening one. */
async function checkNetwork({ backend, probe }: ChosenBackend): Promise<HealthCheck> {
  const name = 'network';
  if (backend.opensHosts !== true) {
    return {
      name,
      status: 'degraded',
      detail: `the sandbox '${backend.name}' has no network, so ACOR rejects tools with permissions.network.egress_allow`,
      fix: installCommand('bubblewrap'),
    };
  }
  const trouble = await tryEgress(backend, probe);
  if (trouble === undefined) {
    return { name, status: 'ok', detail: 'a tool reaches only the hosts that it declares' };
  }
  return {
    name,
    status: 'degraded',
    detail: `ACOR rejects tools with permissions.network.egress_allow: ${trouble}`,
    fix: installCommand('perl', { 'apt-get': 'perl-base bubblewrap', dnf: 'perl-interpreter bubblewrap' }),
  };
}

/** Only one command needs it, so its absence degrades nothing. */
function checkObserver(): HealthCheck {
  const name = 'learn';
  const problem = process.platform === 'linux' ? observerProblem() : undefined;
  if (problem === undefined) return { name, status: 'ok', detail: 'a tool can be observed with strace' };
  const { detail, fix } = problem;
  return { name, status: 'ok', detail: `not available: ${detail}`, fix };
}
