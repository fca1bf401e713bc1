import type { ResourceLimits } from '../../../protocol/resource-limits.ts';
import type { GroupPlace } from '../../sandbox/groups/group-places.ts';
import { largestFileMb } from '../../sandbox/profile/limits.ts';
import type { SandboxProbe } from '../../sandbox/sandbox.ts';

/**
 * What enforces a limit: a control group for all processes together, the kernel for each process, the runner that measures usage
 * (`watchdog`), or the runner itself. Null means no limit; `nothing` means that this machine cannot enforce the limit.
 */
export type Holder = 'cgroup' | 'kernel' | 'watchdog' | 'runner' | 'nothing' | null;

type Features = SandboxProbe['features'];

/** What enforces each limit of a run, as `runner_start.isolation.limits` reports it. */
export function heldLimits(
  resources: ResourceLimits,
  { backend, places, features }: { backend: string; places: readonly GroupPlace[]; features?: Features },
): Record<string, Holder> {
  if (backend === 'container') return heldInContainer(resources, features);
  const isLinux = process.platform === 'linux';
  const watched: Holder = isLinux ? 'watchdog' : 'nothing';
  const byKernel: Holder = isLinux ? 'kernel' : 'nothing';
  const memory = places.some(({ controllers }) => controllers.includes('memory')) ? 'cgroup' : watched;
  const held = (value: number | undefined, by: Holder) => (value === undefined ? null : by);
  return {
    memory: held(resources.memory_mb, memory),
    cpu: held(resources.cpu_seconds, watched),
    processes: held(resources.processes, watched),
    open_files: held(resources.open_files, byKernel),
    file_size: held(largestFileMb(resources), byKernel),
    disk: held(resources.disk_mb, watched),
    tmp: backend === 'bubblewrap' ? 'kernel' : held(resources.tmp_mb, 'nothing'),
    output: 'runner',
    time: 'runner',
  };
}

/** The runner cannot measure the processes of a container. The kernel enforces their limits as far as the engine sets them. */
function heldInContainer(resources: ResourceLimits, features: Features): Record<string, Holder> {
  const together: Holder = features?.groups === true ? 'cgroup' : 'nothing';
  const held = (value: number | undefined, by: Holder) => (value === undefined ? null : by);
  return {
    memory: held(resources.memory_mb, together),
    cpu: held(resources.cpu_seconds, 'kernel'),
    processes: held(resources.processes, together),
    open_files: held(resources.open_files, 'kernel'),
    file_size: held(largestFileMb(resources), 'kernel'),
    disk: held(resources.disk_mb, 'watchdog'),
    tmp: 'kernel',
    output: 'runner',
    time: 'runner',
  };
}
