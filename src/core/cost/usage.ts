import { isAmount, TOKEN_FIELDS, type TokenField } from '../../protocol/v1/wire.ts';
import type { Metrics } from './run-spending.ts';

export type TokenUsage = Record<TokenField, number>;

/** The tokens in metrics; undefined when these name none. */
export function usageIn(metrics: Metrics): TokenUsage | undefined {
  const counted = TOKEN_FIELDS.map((field) => [field, amountOf(metrics[field])] as const);
  if (counted.every(([, count]) => count === undefined)) return undefined;
  const usage = Object.fromEntries(counted.map(([field, count]) => [field, count ?? 0])) as TokenUsage;
  // A part cannot be larger than the whole.
  const cached = usage.cache_read_tokens + usage.cache_write_tokens;
  return { ...usage, input_tokens: Math.max(usage.input_tokens, cached) };
}

/** The US dollars that a tool reports; undefined when it reports none. */
export function reportedUsd(metrics: Metrics): number | undefined {
  return amountOf(metrics['cost_usd']);
}

export function modelIn(metrics: Metrics): string | undefined {
  const { model } = metrics;
  return typeof model === 'string' && model !== '' ? model : undefined;
}

function amountOf(value: unknown): number | undefined {
  return isAmount(value) ? value : undefined;
}
