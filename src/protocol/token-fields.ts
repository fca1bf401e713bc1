/**
 * The tokens of model calls, counted alike for every service (contract §15): `input_tokens` is all input, of which
 * `cache_read_tokens` were read from a cache and `cache_write_tokens` written to one; `output_tokens` is all output, of which
 * `reasoning_tokens` were reasoning.
 */
export const TOKEN_FIELDS = [
  'input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
] as const;

export type TokenField = (typeof TOKEN_FIELDS)[number];
