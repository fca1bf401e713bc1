import { type Figures, figuresOf } from './figures.ts';
import { Lane } from './lane.ts';
import { playRound, type RoundResult } from './round.ts';
import { planRound } from './round-plan.ts';

/** This many rounds run at the same time, each lane in its own project. */
const LANES = 2;

export interface CampaignOptions {
  seed: number;
  /** Play rounds until this many kills have hit. */
  kills: number;
  /** Play only this round. */
  round?: number;
  /** Start no further round, and ignore the results of the current ones. */
  signal?: AbortSignal;
  onRound?: (result: RoundResult) => void;
}

/**
 * Kills processes that take part in runs, with SIGKILL, at random moments, and checks the runs afterwards (contract §3, §4, §6).
 * `kept` are the project folders of violations; all others are removed.
 */
export async function runCampaign(options: CampaignOptions): Promise<{ figures: Figures; kept: string[] }> {
  const results: RoundResult[] = [];
  const kept: string[] = [];
  const killed = () => results.reduce((sum, { kills }) => sum + kills.length, 0);
  let next = options.round ?? 1;
  const take = (): number | undefined => {
    const isOver = options.round === undefined ? killed() >= options.kills : next > options.round;
    return isOver || options.signal?.aborted ? undefined : next++;
  };
  const play = async () => {
    let lane = new Lane();
    for (let number = take(); number !== undefined; number = take()) {
      const result = await playRound(lane, planRound(options.seed, number));
      if (options.signal?.aborted) break;
      results.push(result);
      options.onRound?.(result);
      if (result.problems.length === 0) continue;
      kept.push(lane.root);
      lane = new Lane();
    }
    if (options.signal?.aborted || (await verifyAll(lane, results))) lane[Symbol.dispose]();
    else kept.push(lane.root);
  };
  await Promise.all(Array.from({ length: options.round === undefined ? LANES : 1 }, play));
  return { figures: figuresOf(options.seed, results), kept };
}

/** Checks the ledger and every run of a lane again at the end; a problem counts for the last round of the lane. */
async function verifyAll(lane: Lane, results: readonly RoundResult[]): Promise<boolean> {
  const { ok, error } = await lane.envelope(['verify']);
  if (!ok) results.at(-1)?.problems.push(`acor verify of all runs: ${error.message}`);
  return ok;
}
