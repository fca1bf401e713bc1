import { playRounds, type RoundOptions } from './play-rounds.ts';
import { WorkflowLane } from './workflow-lane.ts';
import { playWorkflowRound, type WorkflowRoundResult } from './workflow-round.ts';

/** Rounds of kills among those who take part in a workflow; `kept` is the project folder when something was violated. */
export function runWorkflowCampaign(
  options: RoundOptions<WorkflowRoundResult> & { seed: number },
): Promise<{ results: WorkflowRoundResult[]; kept: string[] }> {
  return playRounds(options, {
    make: () => new WorkflowLane(),
    play: (lane, number) => playWorkflowRound(lane, options.seed, number),
    remove: (lane) => lane[Symbol.dispose](),
  });
}
