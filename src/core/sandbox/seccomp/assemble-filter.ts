import type { SeccompRules } from './filter.ts';

/** Assembles a filter. The assembler is loaded only then. */
export async function assembleFilter(rules: SeccompRules): Promise<Uint8Array> {
  return (await import('./filter.ts')).seccompFilter(rules);
}

/**
 * The SHA-256 of each possible filter. A cached filter is only loaded if it has this digest, so an outdated, damaged or
 * forged cache is never used. A change of the rules changes this table; `filter.test.ts` prints it.
 */
export const FILTER_DIGESTS: Readonly<Record<string, string>> = {
  'x64 full internet': '5f2dd995da77f4250eb776383feb5f00945feba1f4a6e577bab68f27cad202f3',
  'x64 full': '025e53fdc94b95fbf5d0e541191cf41044d4a95d6e724398060bf063dfbd3551',
  'x64 small': '8c1f12fe6197df1be522be5e311941d99ab8417a801320074a7456e7afe3f677',
  'arm64 full internet': '8973d37744a39f162bb07f09b70046d0a3f936fd7178fab835aa1e63dd0f0abf',
  'arm64 full': '888c0bcfdea0ad8d8b82b1bf5cd0515438d7954a8e84a75e754759320d45658a',
  'arm64 small': '9b886e7ec66a3ddc70217729363fc5474511feeca55c1949c1598119ba186376',
};

/** The digest of the filter for these rules. */
export function digestOf({ architecture, internet, kind }: SeccompRules): string {
  // The small filter has no rules for sockets.
  const name = [architecture, kind, ...(kind === 'full' && internet ? ['internet'] : [])].join(' ');
  const digest = FILTER_DIGESTS[name];
  if (digest === undefined) throw new Error(`Internal: no digest for the filter ${name}`);
  return digest;
}
