import type { SandboxRequest } from './sandbox.ts';

/** What the runner enforces with or without a sandbox. `resources` are the totals of all processes of a tool. */
export const BY_THE_RUNNER = ['environment', 'deadline', 'output', 'process_tree', 'resources'] as const;

/** The optional features of a real sandbox on this system. */
export interface Means {
  /** The kernel can restrict which files are executable. */
  commands: boolean;
  /** Processes are counted for each run separately. */
  processes: boolean;
  /** A PID namespace hides every other process of the machine. */
  hidesProcesses: boolean;
}

/** What is enforced for a run and what is not, in the terms of `runner_start.isolation`. */
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
