import { readFileSync, readlinkSync } from 'node:fs';

/** Lines of /proc/<pid>/status: the rights of a process, what filters it, its memory pages, and where it may run. */
const RIGHTS =
  /^(?:Umask|Uid|Gid|Groups|Cap\w+|NoNewPrivs|Seccomp\w*|THP_enabled|Speculation\w+|Cpus_allowed|Mems_allowed):.*$/gm;
const IS_CONFINED = /^NoNewPrivs:\s*[^0\s]/m;
const HAS_CPU_LIMIT = /^Max cpu time\s+\d/m;
const NAMESPACES = ['cgroup', 'ipc', 'mnt', 'net', 'pid', 'time', 'user', 'uts'] as const;
/** Fields of /proc/<pid>/stat behind the name: the nice value, and the scheduling policy with its priority. */
const NICE = 16;
const PRIORITY = 37;
const POLICY = 38;

/**
 * What the tools of a process inherit from it besides environment, directory and streams: user, groups, capabilities, umask, limits, namespaces,
 * root, control groups, priority, what its core dumps hold. Two processes with the same text may run each other's tools. Undefined for a process that no other one may
 * stand in for: one that has given up new privileges (a sandbox, whose Landlock rules no other process can read), or whose processor time is limited.
 */
export function inheritedFrom(pid: number | 'self'): string | undefined {
  try {
    const own = `/proc/${pid}`;
    const status = readFileSync(`${own}/status`, 'utf8');
    const limits = readFileSync(`${own}/limits`, 'utf8');
    if (IS_CONFINED.test(status) || HAS_CPU_LIMIT.test(limits)) return undefined;
    const stat = readFileSync(`${own}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return [
      ...(status.match(RIGHTS) ?? []),
      limits,
      ...NAMESPACES.map((name) => linkOf(`${own}/ns/${name}`)),
      readlinkSync(`${own}/root`),
      readFileSync(`${own}/cgroup`, 'utf8'),
      textOf(`${own}/attr/current`),
      textOf(`${own}/oom_score_adj`),
      textOf(`${own}/coredump_filter`),
      ...[NICE, PRIORITY, POLICY].map((field) => fields[field]),
    ].join('\n');
  } catch {
    // It has ended, belongs to another user, or there is no /proc.
    return undefined;
  }
}

/** Not every kernel has each namespace. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
