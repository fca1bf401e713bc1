/** What compiling ACOR needs, as entries of the lock file by their path: its dependencies and Bun, without those of the tests. */
export function dependenciesOf(
  root: string,
): Record<string, { version: string; integrity?: string; dependencies?: Record<string, string> }>;
