import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { bubblewrap } from '../../src/core/sandbox/backends/bubblewrap.ts';
import { NO_HOST } from '../support/host.ts';
import { runCampaign } from './campaign.ts';
import { figuresAsText } from './figures.ts';
import { runWarmCampaign } from './warm-campaign.ts';
import { runWorkflowCampaign } from './workflow-campaign.ts';

const KILLS = 22;
const WORKFLOW_ROUNDS = 3;
const WARM_ROUNDS = 4;
const hasPython = spawnSync('sh', ['-c', 'command -v python3']).status === 0;
const isPossible = process.platform === 'linux' && hasPython;
const { available } = await bubblewrap.probe();
const needs = isPossible ? {} : { skip: 'needs Linux, for its /proc, and python3' };

describe(
  'a run whose supervisor, tool, follower or caller is killed with SIGKILL at any moment',
  needs,
  () => {
    it('leaves no process, loses no emitted event, reports its real state, and completes with resume, with no step done twice', {
      timeout: 600_000,
    }, async () => {
      const seed = Math.floor(Math.random() * 1_000_000);
      const { figures, kept } = await runCampaign({ seed, kills: KILLS });
      // Print the seed in every case, so that the campaign can be repeated.
      process.stderr.write(figuresAsText(figures));
      assert.deepEqual(figures.violations, [], `seed ${seed}; kept for a look: ${kept.join(' ')}`);
      assert.ok(figures.kills >= KILLS);
      assert.equal(figures.completed, figures.rounds);
    });
  },
);

describe('a workflow of which any process is killed with SIGKILL at any moment', needs, () => {
  it('is completed by resume, with each of its tasks done once, and no finished task started again', {
    timeout: 600_000,
  }, async () => {
    const seed = Math.floor(Math.random() * 1_000_000);
    const { results, kept } = await runWorkflowCampaign({ seed, rounds: WORKFLOW_ROUNDS });
    const problems = results.flatMap((each) => each.problems);
    assert.deepEqual(problems, [], `seed ${seed}; kept for a look: ${kept.join(' ')}`);
    assert.equal(results.length, WORKFLOW_ROUNDS);
  });
});

describe('calls of a tool with a warm start through a host', { skip: NO_HOST || !available }, () => {
  it('find nothing of another run, and leave nothing, whichever process is killed with SIGKILL', {
    timeout: 600_000,
  }, async () => {
    const seed = Math.floor(Math.random() * 1_000_000);
    const { results, kept } = await runWarmCampaign({ seed, rounds: WARM_ROUNDS });
    const problems = results.flatMap((each) => each.problems);
    assert.deepEqual(problems, [], `seed ${seed}; kept for a look: ${kept.join(' ')}`);
    assert.equal(results.length, WARM_ROUNDS);
    // The control: without a run in an interpreter that waited, the rounds would have shown nothing.
    assert.ok(
      results.some(({ warm }) => warm > 0),
      `seed ${seed}`,
    );
  });
});
