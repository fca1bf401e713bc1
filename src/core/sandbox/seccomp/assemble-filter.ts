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
  'x64 full internet': '88b5bc90a4dc40d0e81a3928d5f0fcadca8eb07e97c047d285bf7480efffd52a',
  'x64 full': '6bd16d22bc3b4ec87b805c46323a869ee653b80164fee5468cacfe3caa507ee7',
  'x64 full shared': '77b364f70771a8b787e5d128994d354e5bc93b27f5933868c1ad5b1b443cfade',
  'x64 small': '55e34c2afcae0bcb1a9a25992030241cba6a08c1b244d60f484e289ba9a5d580',
  'arm64 full internet': '2e1c5cecbd43844f994b4c80d0df671078a191e70b24f5f9519a60b1fb6a70a0',
  'arm64 full': 'ed0f7aa6f0b1f46fa62a26ce4c2f4300e79e055d00dbebc4387786198042ed66',
  'arm64 full shared': '489ae735d3735d1afb6a18207323ed0091ee6aa1d4644112be7be2116486dd2d',
  'arm64 small': '40dad0f536d31fc8459f0f9cae559548f6434733252c9c074bf6c19be16b09d2',
};

/** The digest of the filter for these rules. */
export function digestOf({ architecture, internet, isShared, kind }: SeccompRules): string {
  // The small filter has no rules for sockets and other processes.
  const further =
    kind === 'small' ? [] : [...(internet ? ['internet'] : []), ...(isShared ? ['shared'] : [])];
  const name = [architecture, kind, ...further].join(' ');
  const digest = FILTER_DIGESTS[name];
  if (digest === undefined) throw new Error(`Internal: no digest for the filter ${name}`);
  return digest;
}
