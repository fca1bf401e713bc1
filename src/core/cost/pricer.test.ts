import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { configDefaults } from '../../protocol/config-defaults.ts';
import type { Config } from '../../protocol/config-file.ts';
import { addCosts, Pricer } from './pricer.ts';

const CACHED = {
  input_tokens: 1_000_000,
  cache_read_tokens: 900_000,
  cache_write_tokens: 0,
  output_tokens: 10_000,
  reasoning_tokens: 5_000,
};

function pricer(more: Partial<Config> = {}, kind: 'tool' | 'task' = 'tool', perRunUsd: number | null = null) {
  return new Pricer({ ...configDefaults(), ...more } as Config, { kind, perRunUsd });
}

describe('the price of tokens', () => {
  it('takes cached input for what it costs, by the price table', () => {
    const cost = pricer().costOf({ ...CACHED, model: 'gpt-5' });
    // 100,000 × 1.25 + 900,000 × 0.125 + 10,000 × 10 for a million; at the full price it would be 1.35.
    assert.equal(cost?.usd, 0.3375);
    assert.equal(cost?.source, 'priced');
    assert.match(cost?.priced_by ?? '', /^genai-prices \d/);
    assert.equal(cost?.reasoning_tokens, 5_000, 'which are part of the output, and not priced twice');
  });

  it('is unknown for an unknown model, and neither 0 nor that of another one', () => {
    const cost = pricer().costOf({ ...CACHED, model: 'a-model-of-tomorrow' });
    assert.equal(cost?.usd, null);
    assert.deepEqual(cost?.unpriced, ['input', 'cache_read', 'output']);
    assert.equal(pricer().costOf(CACHED)?.usd, null, 'without a name of the model');
  });

  it('comes from the configuration before the table, and lacks what the configuration leaves out', () => {
    const prices = { 'gpt-5': { input: 2, output: 20, cache_read: 0.2 }, other: { input: 1, output: 1 } };
    const own = pricer({ prices }).costOf({ ...CACHED, model: 'gpt-5' });
    assert.deepEqual([own?.usd, own?.source, own?.priced_by], [0.58, 'configured', 'prices.gpt-5']);
    const partly = pricer({ prices }).costOf({ ...CACHED, model: 'other' });
    assert.deepEqual([partly?.usd, partly?.unpriced], [0.11, ['cache_read']]);
    const task = {
      ...configDefaults().task,
      price: { input: 2, output: 10, cache_read: 0 },
    } as Config['task'];
    assert.equal(pricer({ task }, 'task').costOf({ ...CACHED, model: 'gpt-5' })?.priced_by, 'task.price');
    assert.equal(pricer({ task }).costOf({ ...CACHED, model: 'gpt-5' })?.source, 'priced', 'for a tool');
  });

  it('is what the tool reports, if it does', () => {
    const cost = pricer().costOf({ ...CACHED, model: 'gpt-5', cost_usd: 0.25 });
    assert.deepEqual([cost?.usd, cost?.source, cost?.input_tokens], [0.25, 'reported', 1_000_000]);
  });

  it('is that of the manifest for a run that reports nothing, and nothing for one that has no price', () => {
    assert.deepEqual(pricer({}, 'tool', 0.5).costOf(null), { usd: 0.5, source: 'manifest' });
    assert.equal(pricer().costOf({ files: 12 }), null);
    assert.equal(pricer().costOf(null), null);
  });

  it('ignores figures that cannot be', () => {
    const cost = pricer().costOf({
      model: 'gpt-5',
      input_tokens: -5,
      cache_read_tokens: 100,
      cost_usd: Number.NaN,
    });
    assert.equal(cost?.input_tokens, 100, 'a part is not larger than the whole');
    assert.equal(cost?.source, 'priced');
  });

  it('adds the parts of a run, and keeps what is unknown', () => {
    const known = pricer().costOf({ input_tokens: 1_000_000, model: 'gpt-5' });
    const unknown = pricer().costOf({ input_tokens: 7, model: 'a-model-of-tomorrow' });
    const reported = pricer().costOf({ cost_usd: 1 });
    const sum = addCosts(addCosts(known, unknown), reported);
    assert.deepEqual(
      [sum?.usd, sum?.source, sum?.unpriced, sum?.input_tokens],
      [2.25, 'mixed', ['input'], 1_000_007],
    );
    assert.equal(addCosts(null, reported), reported);
  });
});
