import type { SandboxRequest } from './sandbox.ts';

/** What the runner itself sees to, with or without a sandbox. `resources` is what all processes of a tool use together. */
export const BY_THE_RUNNER = ['environment', 'deadline', 'output', 'process_tree', 'resources'] as const;

/** What a real sandbox of this system can do beyond what every one does. */
export interface Means {
  /** The kernel can restrict which files may be executed. */
  commands: boolean;
  /** Processes are counted for this run alone. */
  processes: boolean;
  /** A PID namespace hides every process of the machine. */
  hidesProcesses: boolean;
}

/** What holds for a run, and what does not, in the words of `runner_start.isolation`. */
export function enforcedBy(
  { level, network }: SandboxRequest,
  means: Means,
): { enforced: string[]; not_enforced: string[] } {
  const isPrivileged = level === 'privileged';
  const held: Record<string, boolean> = {
    filesystem: !isPrivileged,
    network: network !== 'host',
    commands: !isPrivileged && means.commands,
    privileges: true,
    system_calls: true,
    process_limits: true,
    process_count: means.processes,
    other_processes: means.hidesProcesses,
  };
  const names = Object.keys(held);
  return {
    enforced: [...BY_THE_RUNNER, ...names.filter((name) => held[name])],
    not_enforced: names.filter((name) => !held[name]),
  };
}
