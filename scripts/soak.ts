import { parseArgs } from 'node:util';
import { runCampaign } from '../test/campaign/campaign.ts';
import { figuresAsText } from '../test/campaign/figures.ts';
import { runWarmCampaign } from '../test/campaign/warm-campaign.ts';
import { runWorkflowCampaign } from '../test/campaign/workflow-campaign.ts';

// `npm run soak`: kills supervisors, tools, followers and callers at random moments, those who take part in workflows, and hosts with the
// interpreters that wait in them, and fails when anything is lost by it.

const USAGE = `npm run soak -- [--kills 500] [--seed N] [--round N] [--workflow-rounds 50] [--warm-rounds 50]

  --kills N  how many kills (500)
  --seed N   the seed of an earlier campaign; left out, a new one
  --round N  only this round of that campaign
  --workflow-rounds N  how many rounds of kills with a workflow (50); --kills 0 leaves out the others
  --warm-rounds N  how many rounds of kills with a host and warm interpreters (50)
`;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '500' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    round: { type: 'string' },
    'workflow-rounds': { type: 'string' },
    'warm-rounds': { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
// One round that is played again is played alone.
const others = values.round === undefined ? '50' : '0';
const numbers = [
  values.kills,
  values.seed,
  values.round ?? '1',
  values['workflow-rounds'] ?? others,
  values['warm-rounds'] ?? others,
].map(Number);
if (values.help || !numbers.every((number) => Number.isSafeInteger(number) && number >= 0)) {
  process.stderr.write(USAGE);
  process.exit(values.help ? 0 : 1);
}
const [kills, seed, round, workflowRounds, warmRounds] = numbers as [number, number, number, number, number];

process.stderr.write(`soak: seed ${seed}\n`);
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
let hit = 0;
const { figures, kept } = await runCampaign({
  seed,
  kills,
  signal: stop.signal,
  ...(values.round !== undefined && { round }),
  onRound({ plan, kills: done, problems }) {
    hit += done.length;
    const word = problems.length === 0 ? 'ok' : problems.join('; ');
    process.stderr.write(`soak: round ${plan.number}, ${hit} kills: ${word}\n`);
  },
});
process.stdout.write(figuresAsText(figures));
const workflows = await runWorkflowCampaign({
  seed,
  rounds: workflowRounds,
  signal: stop.signal,
  onRound({ number, kills: struck, problems }) {
    const word = problems.length === 0 ? 'ok' : problems.join('; ');
    process.stderr.write(`soak: workflow round ${number}, killed: ${struck.join(', ') || 'none'}: ${word}\n`);
  },
});
const violated = workflows.results.filter(({ problems }) => problems.length > 0);
process.stdout.write(
  `workflows: ${workflows.results.length} rounds, ${workflows.results.flatMap((each) => each.kills).length} kills, ${violated.length} violated\n`,
);
const warm = await runWarmCampaign({
  seed,
  rounds: warmRounds,
  signal: stop.signal,
  onRound({ number, victim, problems }) {
    const word = problems.length === 0 ? 'ok' : problems.join('; ');
    process.stderr.write(`soak: warm round ${number}, killed: ${victim}: ${word}\n`);
  },
});
const warmViolated = warm.results.filter(({ problems }) => problems.length > 0);
const warmRuns = warm.results.reduce((sum, each) => sum + each.warm, 0);
process.stdout.write(
  `warm: ${warm.results.length} rounds with a kill, ${warmRuns} runs in an interpreter that waited, ${warmViolated.length} violated\n`,
);
for (const folder of [...kept, ...workflows.kept, ...warm.kept])
  process.stdout.write(`  kept for a look: ${folder}\n`);
process.exitCode = figures.violations.length + violated.length + warmViolated.length === 0 ? 0 : 1;
