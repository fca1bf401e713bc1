import { SeededRandom } from '../support/seeded-random.ts';

/** The process to kill. `both` is a supervisor together with the watchdog that would clean up after it. */
export const VICTIMS = ['supervisor', 'tool', 'grandchild', 'follower', 'caller', 'both'] as const;
export type Victim = (typeof VICTIMS)[number];

/** When to kill: when the command has started, its run has a folder, the log has this many more events, or an event of this type. */
export type Point =
  | { kind: 'started' }
  | { kind: 'folder' }
  | { kind: 'events'; count: number }
  | { kind: 'event'; type: string };

/** `turns` are turns of the event loop between the point and the kill, so that a kill also falls between two events. */
export interface Kill {
  victim: Victim;
  point: Point;
  turns: number;
  /** Continue at once, while the watchdog may still be active. */
  rush: boolean;
}

/** What one round does; the seed determines all of it. */
export interface RoundPlan {
  seed: number;
  number: number;
  tool: string;
  args: string[];
  steps: number;
  asks: number[];
  detached: boolean;
  follower: 'attach' | 'logs';
  /** Another command that reads the run while it is resumed. */
  bystander: 'show' | 'runs' | 'verify' | 'none';
  /** The kill of each start of the run, first by `run`, then by `resume`. */
  kills: Kill[];
  /** The answers, in turn. */
  choices: string[];
}

/** The tools of a campaign: in each language, with a supervisor process of its own (`_apart`) or in `acor run` itself. */
export const TOOLS = ['campaign_python', 'campaign_bash', 'campaign_python_apart', 'campaign_bash_apart'];

const EVENT_TYPES = ['start', 'action_required', 'action_answered', 'result', 'artifact', 'runner_end'];
const MAX_TURNS = 600;

/** Plans one round of a campaign; the same seed and number give the same plan. */
export function planRound(seed: number, number: number): RoundPlan {
  const random = new SeededRandom(seed * 1_000_003 + number);
  const steps = 2 + random.below(4);
  const asks = Array.from({ length: steps }, (_, index) => index + 1).filter(() => random.chance(0.3));
  const pauseMs = random.below(4);
  const args = ['--steps', String(steps), '--asks', asks.join(',') || 'none'];
  return {
    seed,
    number,
    tool: random.pick(TOOLS),
    args: [...args, '--children', String(1 + random.below(3)), '--pause-ms', String(pauseMs)],
    steps,
    asks,
    detached: random.chance(0.4),
    follower: random.pick(['attach', 'logs']),
    bystander: random.pick(['show', 'runs', 'verify', 'none']),
    kills: Array.from({ length: killsOf(random) }, () => planKill(random)),
    choices: Array.from({ length: 16 }, () => random.pick(['left', 'right', 'up', 'down'])),
  };
}

/** Most rounds kill once; the others also kill during the recovery. */
function killsOf(random: SeededRandom): number {
  let kills = 1;
  while (kills < 4 && random.chance(0.35)) kills++;
  return kills;
}

function planKill(random: SeededRandom): Kill {
  return {
    victim: random.pick(VICTIMS),
    point: planPoint(random),
    turns: random.chance(0.3) ? 0 : random.below(MAX_TURNS),
    rush: random.chance(0.5),
  };
}

function planPoint(random: SeededRandom): Point {
  const chance = random.next();
  if (chance < 0.07) return { kind: 'started' };
  if (chance < 0.15) return { kind: 'folder' };
  if (chance < 0.55) return { kind: 'event', type: random.pick(EVENT_TYPES) };
  return { kind: 'events', count: 1 + random.below(16) };
}
