import { parseArgs } from 'node:util';
import { runCampaign } from '../test/campaign/campaign.ts';
import { figuresAsText } from '../test/campaign/figures.ts';

// `npm run soak`: kills supervisors, tools, followers and callers at random moments, and fails when anything is lost by it.

const USAGE = `npm run soak -- [--kills 500] [--seed N] [--round N]

  --kills N  how many kills (500)
  --seed N   the seed of an earlier campaign; left out, a new one
  --round N  only this round of that campaign
`;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '500' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    round: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const numbers = [values.kills, values.seed, values.round ?? '1'].map(Number);
if (values.help || !numbers.every((number) => Number.isSafeInteger(number) && number >= 0)) {
  process.stderr.write(USAGE);
  process.exit(values.help ? 0 : 1);
}
const [kills, seed, round] = numbers as [number, number, number];

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
for (const folder of kept) process.stdout.write(`  kept for a look: ${folder}\n`);
process.exitCode = figures.violations.length === 0 ? 0 : 1;
