import { HostProject } from '../support/host.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { playWarmRound, WARM_TOOL, type WarmRoundResult } from './warm-round.ts';

/** Rounds of kills among those who take part in calls through a host; `kept` is the project folder when something was violated. */
export async function runWarmCampaign(options: {
  seed: number;
  rounds: number;
  signal?: AbortSignal;
  onRound?: (result: WarmRoundResult) => void;
}): Promise<{ results: WarmRoundResult[]; kept: string[] }> {
  const results: WarmRoundResult[] = [];
  const kept: string[] = [];
  let project = newProject();
  for (let number = 1; number <= options.rounds && !options.signal?.aborted; number++) {
    const random = new SeededRandom(options.seed * 1_000_003 + number);
    const result = await playWarmRound(project, random, number);
    if (options.signal?.aborted) break;
    results.push(result);
    options.onRound?.(result);
    if (result.problems.length === 0) continue;
    kept.push(project.root);
    await project.stop();
    project = newProject();
  }
  await project[Symbol.asyncDispose]();
  return { results, kept };
}

function newProject(): HostProject {
  const project = new HostProject({ config: 'version: 1\nenvironment: { cancel_grace_s: 0.3 }\n' });
  for (const [path, text] of Object.entries(WARM_TOOL)) project.write(path, text);
  return project;
}
