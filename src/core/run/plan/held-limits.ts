import type { ResourceLimits } from '../../../protocol/resource-limits.ts';
import type { GroupPlace } from '../../sandbox/groups/group-places.ts';
import { largestFileMb } from '../../sandbox/profile/limits.ts';
import type { SandboxProbe } from '../../sandbox/sandbox.ts';

/**
 * What holds a limit: the kernel for a whole group of processes, the kernel for each process, or the runner, which looks from time to time.
 * Null stands for no limit, `nothing` for a limit that cannot be held here.
 */
export type Holder = 'cgroup' | 'kernel' | 'watchdog' | 'runner' | 'nothing' | null;

type Features = SandboxProbe['features'];

/** Which limits hold for a run, and by what, in the words of `runner_start.isolation.limits`. */
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

/** The runner does not see what the processes of a container use; the kernel holds them, as far as the engine has it do so. */
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
