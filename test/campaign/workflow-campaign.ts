import { WorkflowLane } from './workflow-lane.ts';
import { playWorkflowRound, type WorkflowRoundResult } from './workflow-round.ts';

/** Rounds of kills among those who take part in a workflow; `kept` is the project folder when something was violated. */
export async function runWorkflowCampaign(options: {
  seed: number;
  rounds: number;
  signal?: AbortSignal;
  onRound?: (result: WorkflowRoundResult) => void;
}): Promise<{ results: WorkflowRoundResult[]; kept: string[] }> {
  const results: WorkflowRoundResult[] = [];
  const kept: string[] = [];
  let lane = new WorkflowLane();
  for (let number = 1; number <= options.rounds && !options.signal?.aborted; number++) {
    const result = await playWorkflowRound(lane, options.seed, number);
    if (options.signal?.aborted) break;
    results.push(result);
    options.onRound?.(result);
    if (result.problems.length === 0) continue;
    kept.push(lane.root);
    lane = new WorkflowLane();
  }
  lane[Symbol.dispose]();
  return { results, kept };
}
