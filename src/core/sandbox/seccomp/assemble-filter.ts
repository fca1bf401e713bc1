import type { SeccompRules } from './filter.ts';

/** Assembles a filter. The assembler is loaded only then. */
export async function assembleFilter(rules: SeccompRules): Promise<Uint8Array> {
  return (await import('./filter.ts')).seccompFilter(rules);
}
