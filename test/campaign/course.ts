import { mkdirSync } from 'node:fs';
import type { Event, Finished } from '../support/project.ts';
import type { Lane } from './lane.ts';
import type { RoundPlan } from './round-plan.ts';
import type { Stream } from './stream.ts';

/** What the attempts of a round share. */
export interface Course {
  lane: Lane;
  plan: RoundPlan;
  runId: string | undefined;
  /** Folders of runs that are not this round's. */
  known: Set<string>;
  /** Where the tool keeps what it did. */
  recordFolder: string;
  /** The log at each moment at which somebody might have read it. */
  seen: string[];
  /** The log as each supervisor left it that was killed. */
  losses: Event[][];
  /** Other commands that looked at the run. */
  bystanders: Promise<Finished>[];
  streams: Stream[];
  answering: Promise<void>[];
  acknowledged: Map<string, string>;
  nextChoice(): string;
}

/** A round that has not begun. */
export function newCourse(lane: Lane, plan: RoundPlan): Course {
  const recordFolder = lane.path('records', String(plan.number));
  mkdirSync(recordFolder, { recursive: true });
  let answers = 0;
  return {
    lane,
    plan,
    runId: undefined,
    known: new Set(lane.runIds()),
    recordFolder,
    seen: [],
    losses: [],
    bystanders: [],
    streams: [],
    answering: [],
    acknowledged: new Map(),
    nextChoice: () => plan.choices[answers++ % plan.choices.length]!,
  };
}
