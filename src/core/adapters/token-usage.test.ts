import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { claudeUsage, geminiModel, geminiUsage, openaiUsage } from './token-usage.ts';

describe('the tokens of a service', () => {
  it('count the input of Claude with what its cache had, which Claude counts apart', () => {
    const usage = {
      input_tokens: 10,
      cache_creation_input_tokens: 200,
      cache_read_input_tokens: 9000,
      output_tokens: 50,
      service_tier: 'standard',
    };
    assert.deepEqual(claudeUsage(usage), {
      input_tokens: 9210,
      cache_read_tokens: 9000,
      cache_write_tokens: 200,
      output_tokens: 50,
      reasoning_tokens: 0,
    });
  });

  it('count the input of OpenAI as it is, because it includes the cache', () => {
    const usage = {
      input_tokens: 24_763,
      cached_input_tokens: 24_448,
      output_tokens: 122,
      reasoning_output_tokens: 64,
    };
    assert.deepEqual(openaiUsage(usage), {
      input_tokens: 24_763,
      cache_read_tokens: 24_448,
      cache_write_tokens: 0,
      output_tokens: 122,
      reasoning_tokens: 64,
    });
  });

  it('count the reasoning of Gemini, which is only in its total, as output', () => {
    const stats = {
      total_tokens: 150,
      input_tokens: 100,
      output_tokens: 20,
      cached: 60,
      input: 40,
      duration_ms: 4000,
      models: { 'gemini-2.5-pro': { total_tokens: 150 } },
    };
    assert.deepEqual(geminiUsage(stats), {
      duration_ms: 4000,
      input_tokens: 100,
      cache_read_tokens: 60,
      cache_write_tokens: 0,
      output_tokens: 50,
      reasoning_tokens: 30,
    });
    assert.equal(geminiModel(stats), 'gemini-2.5-pro');
    assert.equal(geminiModel({ models: { a: {}, b: {} } }), undefined);
  });

  it('stay unknown when the service names none', () => {
    assert.deepEqual(claudeUsage(undefined), {});
    assert.deepEqual(openaiUsage({ output_tokens: 'many' }), {});
    assert.deepEqual(geminiUsage({ total_tokens: 7 }), { total_tokens: 7 });
  });
});
