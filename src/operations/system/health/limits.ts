import { existsSync } from 'node:fs';
import type { HealthCheck } from '../../../compose/health-shape.ts';
import { groupPlaces } from '../../../core/sandbox/groups/group-places.ts';
import { RunGroups } from '../../../core/sandbox/groups/run-groups.ts';

const NAME = 'limits';

/** Reports what enforces the resource limits of tools on this machine. Finds out by creating a control group as a run does. */
export async function checkLimits(): Promise<HealthCheck> {
  if (process.platform !== 'linux') {
    return {
      name: NAME,
      status: 'degraded',
      detail: 'only output and time are limited: ACOR can measure and limit processes on Linux only',
      fix: 'Run ACOR on Linux, in a virtual machine or WSL 2.',
    };
  }
  if (!existsSync(`/proc/self/task/${process.pid}/children`)) {
    return {
      name: NAME,
      status: 'degraded',
      detail: '/proc does not list child processes, so ACOR monitors only the first process of a tool',
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
      detail: `the kernel limits memory (${where.join(', ')}); ACOR monitors the rest`,
    };
  }
  const more =
    process.getuid?.() === 0
      ? 'the control group of ACOR belongs to another manager (/proc/self/cgroup)'
      : 'for limits by the kernel: systemd-run --user --scope -q -p Delegate=yes acor run …';
  return {
    name: NAME,
    status: 'ok',
    detail: `ACOR monitors memory, processor time, processes and disk, many times a second; ${more}`,
  };
}
