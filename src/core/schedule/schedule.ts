import type { Principal } from '../ports/principal.ts';

/** What happens with the times at which no server ran: only the latest is made up for, each is, or none. */
export const MISSED = ['once', 'all', 'skip'] as const;

export type Missed = (typeof MISSED)[number];

/** A cron expression in a time zone. Each time is delayed by a random part of `jitter_s`, which is always the same for that time. */
export interface CronTrigger {
  kind: 'cron';
  cron: string;
  timezone: string;
  jitter_s: number;
  missed: Missed;
}

/** Files of the project that match one of these patterns, relative to the project's folder. */
export interface WatchTrigger {
  kind: 'watch';
  on: string[];
}

/** A run that a schedule starts at certain times or after changes of files. */
export interface Schedule {
  version: 1;
  /** The real path of the project's folder. */
  root: string;
  name: string;
  operation: 'run.start' | 'workflow.run';
  /** The tool or the workflow. */
  target: string;
  args: string[];
  /** The arguments as they are shown where one of them is a secret. */
  masked_args?: string[];
  cwd: string;
  trigger: CronTrigger | WatchTrigger;
  /** Who added it. Its runs need what the policy lets this caller do. */
  by: Pick<Principal, 'kind' | 'name'>;
  created_at: string;
  paused: { at: string; why: string } | null;
  /** Everything up to here has been handled: a time for cron, the digest of the files for a watch. */
  settled: string;
  /** A run that is being started: after a crash it is started again under the same key, which starts no second one. */
  pending: { at: string; key: string; settles: string } | null;
  /** How many runs it has begun to start. */
  count: number;
  /** How many runs in a row followed a change that happened during the run before. */
  self_triggered: number;
  /** The newest first. */
  history: Firing[];
}

/** What a schedule did at a time. */
export interface Firing {
  /** The scheduled time; for a watch, when the change was seen. */
  at: string;
  outcome: 'started' | 'skipped' | 'failed';
  run_id: string | null;
  /** Why no run was started. */
  why: string | null;
}
