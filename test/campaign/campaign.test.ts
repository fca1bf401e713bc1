import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { runCampaign } from './campaign.ts';
import { figuresAsText } from './figures.ts';
import { runWorkflowCampaign } from './workflow-campaign.ts';

const KILLS = 22;
const WORKFLOW_ROUNDS = 3;
const hasPython = spawnSync('sh', ['-c', 'command -v python3']).status === 0;
const isPossible = process.platform === 'linux' && hasPython;
const needs = isPossible ? {} : { skip: 'needs Linux, for its /proc, and python3' };

describe(
  'a run whose supervisor, tool, follower or caller is killed with SIGKILL at any moment',
  needs,
  () => {
    it('leaves no process, loses nothing that was told, is told as it is, and is completed by resume, with nothing done twice', {
      timeout: 600_000,
    }, async () => {
      const seed = Math.floor(Math.random() * 1_000_000);
      const { figures, kept } = await runCampaign({ seed, kills: KILLS });
      // So that a campaign can be had again, its seed is told whatever comes of it.
      process.stderr.write(figuresAsText(figures));
      assert.deepEqual(figures.violations, [], `seed ${seed}; kept for a look: ${kept.join(' ')}`);
      assert.ok(figures.kills >= KILLS);
      assert.equal(figures.completed, figures.rounds);
    });
  },
);

describe('a workflow of which anybody who takes part is killed with SIGKILL at any moment', needs, () => {
  it('is completed by resume, with each of its tasks brought about once, and none begun again that was done', {
    timeout: 600_000,
  }, async () => {
    const seed = Math.floor(Math.random() * 1_000_000);
    const { results, kept } = await runWorkflowCampaign({ seed, rounds: WORKFLOW_ROUNDS });
    const problems = results.flatMap((each) => each.problems);
    assert.deepEqual(problems, [], `seed ${seed}; kept for a look: ${kept.join(' ')}`);
    assert.equal(results.length, WORKFLOW_ROUNDS);
  });
});
