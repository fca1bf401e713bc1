import { existsSync } from 'node:fs';
import type { HealthCheck } from '../../../compose/health-shape.ts';
import { groupPlaces } from '../../../core/sandbox/groups/group-places.ts';
import { RunGroups } from '../../../core/sandbox/groups/run-groups.ts';

const NAME = 'limits';

/** By what tools are held to their resource limits here, found out by making a group as a run would. */
export async function checkLimits(): Promise<HealthCheck> {
  if (process.platform !== 'linux') {
    return {
      name: NAME,
      status: 'degraded',
      detail: 'only output and time are limited: what processes use can be seen and bounded on Linux alone',
      fix: 'Run ACOR on Linux, in a virtual machine or WSL 2.',
    };
  }
  if (!existsSync(`/proc/self/task/${process.pid}/children`)) {
    return {
      name: NAME,
      status: 'degraded',
      detail: '/proc tells no process’s children, so that only the first process of a tool is watched',
      fix: 'Use a kernel with CONFIG_PROC_CHILDREN, with /proc mounted: mount -t proc proc /proc',
    };
  }
  const groups = RunGroups.make(
    `health-${process.pid}`,
    { memory_mb: 100, processes: 10 },
    { mayMove: true },
  );
  await groups.remove();
  if (groups.controllers.includes('memory')) {
    const where = groupPlaces().map(({ folder }) => folder);
    return {
      name: NAME,
      status: 'ok',
      detail: `memory by the kernel (${where.join(', ')}), the rest watched`,
    };
  }
  const more =
    process.getuid?.() === 0
      ? 'ACOR is in a group of somebody else’s (/proc/self/cgroup)'
      : 'the kernel can hold it at every moment with: systemd-run --user --scope -q -p Delegate=yes acor run …';
  return {
    name: NAME,
    status: 'ok',
    detail: `memory, processor time, processes and disk are watched, many times a second; ${more}`,
  };
}
