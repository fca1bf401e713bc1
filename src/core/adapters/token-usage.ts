import type { TokenUsage } from '../cost/usage.ts';
import { numbersOf, recordOf } from './json-object.ts';

/** The tokens and the other figures of a service's usage. */
type Figures = Record<string, number>;

/** Anthropic counts the input apart from what it read from the cache and wrote to it. */
export function claudeUsage(usage: unknown): Figures {
  const {
    input_tokens: input = 0,
    cache_read_input_tokens: cacheRead = 0,
    cache_creation_input_tokens: cacheWrite = 0,
    output_tokens: output,
    ...others
  } = numbersOf(usage);
  if (output === undefined) return others;
  return { ...others, ...tokens({ input: input + cacheRead + cacheWrite, cacheRead, cacheWrite, output }) };
}

/** OpenAI counts what it read from the cache as input, and reasoning as output: as Codex and the Responses API write it. */
export function openaiUsage(usage: unknown): Figures {
  const {
    input_tokens: input,
    cached_input_tokens: cached,
    output_tokens: output = 0,
    reasoning_output_tokens: reasoning,
    ...others
  } = numbersOf(usage);
  if (input === undefined) return others;
  return { ...others, ...tokens({ input, cacheRead: cached ?? 0, output, reasoning: reasoning ?? 0 }) };
}

/** Gemini CLI counts what it read from the cache as input, and reasoning only in the total. */
export function geminiUsage(stats: unknown): Figures {
  const { total_tokens, input_tokens, output_tokens, cached = 0, input: _, ...others } = numbersOf(stats);
  if (input_tokens === undefined || output_tokens === undefined) return numbersOf(stats);
  const reasoning = Math.max(0, (total_tokens ?? 0) - input_tokens - output_tokens);
  const output = output_tokens + reasoning;
  return { ...others, ...tokens({ input: input_tokens, cacheRead: cached, output, reasoning }) };
}

/** The one model of Gemini CLI's statistics; undefined when there were several. */
export function geminiModel(stats: unknown): string | undefined {
  const models = Object.keys(recordOf(recordOf(stats)['models']));
  return models.length === 1 ? models[0] : undefined;
}

function tokens(counted: {
  input: number;
  cacheRead?: number;
  cacheWrite?: number;
  output: number;
  reasoning?: number;
}): TokenUsage {
  const { input, cacheRead = 0, cacheWrite = 0, output, reasoning = 0 } = counted;
  return {
    input_tokens: input,
    cache_read_tokens: cacheRead,
    cache_write_tokens: cacheWrite,
    output_tokens: output,
    reasoning_tokens: reasoning,
  };
}
