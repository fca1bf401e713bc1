import type { LandlockRules } from './landlock-rules.ts';

/** One resource limit of a process: the resource number and the value. */
export type ProcessLimit = readonly [resource: number, value: number];

/** What the launcher starts. */
export interface Program {
  argv: readonly [string, ...string[]];
  env: Readonly<Record<string, string>>;
}

/** What a tool adds to the confinement of its process. */
export interface ToolStart extends Program {
  cwd: string;
  /** Files through which it joins cgroups, for a launcher that has not inherited their descriptors. */
  groups?: readonly string[];
}

/** What the launcher does to the process of a tool, whatever that process becomes. */
export interface ConfineSteps {
  user: { uid: number; gid: number } | null;
  limits: readonly ProcessLimit[];
  landlock: LandlockRules | null;
  filter: Uint8Array;
  /** Stays as the first process of a PID namespace, or as the parent of the tool outside of its sandbox; null for neither. */
  stays: 'init' | 'reaper' | null;
  /** As the first process it forwards SIGTERM to every process in the namespace. */
  handsOn?: boolean;
  /** Sets only the limits and drops no privileges. */
  isBare?: boolean;
  /** A tmpfs whose files belong to root and must be readable for the user. */
  secrets?: string | undefined;
}

/** All of them. */
export interface LaunchSteps extends ConfineSteps, ToolStart {}

/**
 * For a launcher that waits for its run: as the first process of a PID namespace it makes the tool's process at once, confined. What the run
 * adds comes later, over this pipe.
 */
export interface EarlySteps extends ConfineSteps {
  /** The end that the launcher reads. */
  pipe: number;
  /** Starts this program at once, which reads the environment, the folder and the arguments of the run from descriptor 3. */
  warm?: Program | undefined;
}
