import type { ResourceLimits } from '../../../protocol/resource-limits.ts';
import type { GroupPlace } from '../../sandbox/groups/group-places.ts';
import { largestFileMb } from '../../sandbox/profile/limits.ts';
import type { SandboxProbe } from '../../sandbox/sandbox.ts';

/**
 * What enforces a limit: a control group for all processes together, the kernel for each process, the runner that measures usage
 * (`watchdog`), or the runner itself. Null means no limit; `nothing` means that this machine cannot enforce the limit.
 */
type Enforcer = 'cgroup' | 'kernel' | 'watchdog' | 'runner' | 'nothing' | null;

type Features = SandboxProbe['features'];

/** What enforces each limit of a run, as `runner_start.isolation.limits` reports it. */
export function limitEnforcers(
  resources: ResourceLimits,
  { backend, places, features }: { backend: string; places: readonly GroupPlace[]; features?: Features },
): Record<string, Enforcer> {
  if (backend === 'container') return enforcersInContainer(resources, features);
  const isLinux = process.platform === 'linux';
  const watched: Enforcer = isLinux ? 'watchdog' : 'nothing';
  const byKernel: Enforcer = isLinux ? 'kernel' : 'nothing';
  const memory = places.some(({ controllers }) => controllers.includes('memory')) ? 'cgroup' : watched;
  return {
    memory: by(resources.memory_mb, memory),
    cpu: by(resources.cpu_seconds, watched),
    processes: by(resources.processes, watched),
    open_files: by(resources.open_files, byKernel),
    file_size: by(largestFileMb(resources), byKernel),
    disk: by(resources.disk_mb, watched),
    tmp: backend === 'bubblewrap' ? 'kernel' : by(resources.tmp_mb, 'nothing'),
    output: 'runner',
    time: 'runner',
  };
}

/** The runner cannot measure the processes of a container. The kernel enforces their limits as far as the engine sets them. */
function enforcersInContainer(resources: ResourceLimits, features: Features): Record<string, Enforcer> {
  const together: Enforcer = features?.groups === true ? 'cgroup' : 'nothing';
  return {
    memory: by(resources.memory_mb, together),
    cpu: by(resources.cpu_seconds, 'kernel'),
    processes: by(resources.processes, together),
    open_files: by(resources.open_files, 'kernel'),
    file_size: by(largestFileMb(resources), 'kernel'),
    disk: by(resources.disk_mb, 'watchdog'),
    tmp: 'kernel',
    output: 'runner',
    time: 'runner',
  };
}

function by(limit: number | undefined, enforcer: Enforcer): Enforcer {
  return limit === undefined ? null : enforcer;
}
