import { HostProject } from '../support/host.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { playRounds, type RoundOptions } from './play-rounds.ts';
import { playWarmRound, WARM_TOOL, type WarmRoundResult } from './warm-round.ts';

/** Rounds of kills among those who take part in calls through a host; `kept` is the project folder when something was violated. */
export function runWarmCampaign(
  options: RoundOptions<WarmRoundResult> & { seed: number },
): Promise<{ results: WarmRoundResult[]; kept: string[] }> {
  return playRounds(options, {
    make: newProject,
    play: (project, number) =>
      playWarmRound(project, new SeededRandom(options.seed * 1_000_003 + number), number),
    leave: (project) => project.stop(),
    remove: (project) => project[Symbol.asyncDispose](),
  });
}

function newProject(): HostProject {
  const project = new HostProject({ config: 'version: 1\nenvironment: { cancel_grace_s: 0.3 }\n' });
  for (const [path, text] of Object.entries(WARM_TOOL)) project.write(path, text);
  return project;
}
