import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { configDefaults } from '../../protocol/config-defaults.ts';
import type { Config } from '../../protocol/config-file.ts';
import { Pricer } from './pricer.ts';
import { RunSpending } from './run-spending.ts';

async function spending(usd: number | null, before: number | null = null) {
  const warnings: string[] = [];
  const made = new RunSpending({
    limit: usd === null ? null : { usd, by: 'budget.max_cost_usd' },
    warnAt: 0.8,
    before: before === null ? null : { usd: before, source: 'reported' },
    loadPricer: async () => new Pricer(configDefaults() as Config, { kind: 'tool' }),
    warn: (msg) => warnings.push(msg),
  });
  await made.prepare();
  return { made, warnings };
}

describe('what a run spends', () => {
  it('is over the limit by the sum of its processes and of its earlier attempts, after one warning', async () => {
    const { made, warnings } = await spending(1, 0.25);
    assert.equal(made.report({ cost_usd: 0.5 }), undefined);
    made.settle({ hasRun: true });
    assert.equal(made.report({ cost_usd: 0.1 }), undefined);
    assert.deepEqual(warnings, ['the run has cost 0.85 of 1 USD (budget.max_cost_usd)']);
    assert.equal(made.leftUsd, 0.15);
    assert.equal(made.report({ cost_usd: 0.25 })?.usd, 1);
    assert.equal(warnings.length, 1);
    made.settle({ hasRun: true });
    assert.equal((await made.cost(false))?.usd, 1);
  });

  it('counts of the totals of a conversation only what this run has added', async () => {
    const { made } = await spending(null);
    made.continuesFrom({ input_tokens: 1_000_000, output_tokens: 10 });
    made.report({ model: 'gpt-5', input_tokens: 3_000_000, output_tokens: 10 });
    assert.deepEqual(made.settle({ hasRun: true }), {
      model: 'gpt-5',
      input_tokens: 2_000_000,
      output_tokens: 0,
    });
    assert.equal((await made.cost(false))?.usd, 2.5);
  });

  it('reports that a limit cannot hold what has no price', async () => {
    const { made, warnings } = await spending(1);
    assert.equal(made.report({ model: 'unknown-model', input_tokens: 10 ** 9 }), undefined);
    made.report({ model: 'unknown-model', input_tokens: 2 * 10 ** 9 });
    assert.deepEqual(warnings, [
      "the price of input tokens of the model 'unknown-model' is unknown, so budget.max_cost_usd cannot count them",
    ]);
  });

  it('may go on by as much again', async () => {
    const { made } = await spending(1);
    assert.notEqual(made.report({ cost_usd: 1.5 }), undefined);
    made.settle({ hasRun: true });
    made.raise();
    assert.deepEqual(made.limit, { usd: 2.5, by: 'budget.max_cost_usd' });
    assert.equal(made.over(), undefined);
  });
});
