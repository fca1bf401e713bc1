import { mkdirSync } from 'node:fs';
import type { Event, Finished } from '../support/project.ts';
import type { Lane } from './lane.ts';
import type { RoundPlan } from './round-plan.ts';
import type { Stream } from './stream.ts';

/** The state that the attempts of a round share. */
export interface Course {
  lane: Lane;
  plan: RoundPlan;
  runId: string | undefined;
  /** Run folders that do not belong to this round. */
  known: Set<string>;
  /** Where the tool records what it did. */
  recordFolder: string;
  /** Every state of the log that a reader may have seen. */
  seen: string[];
  /** The log as each killed supervisor left it. */
  losses: Event[][];
  /** Other commands that read the run. */
  bystanders: Promise<Finished>[];
  streams: Stream[];
  answering: Promise<void>[];
  acknowledged: Map<string, string>;
  nextChoice(): string;
}

/** The course of a new round. */
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
