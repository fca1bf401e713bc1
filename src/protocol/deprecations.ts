/** A deprecated key, or a deprecated notation of its value, and the replacement. Paths are dotted. */
export interface Deprecation {
  file: 'config' | 'manifest';
  /** The place of the key. */
  path: string;
  /** Only when the value is this one; undefined for any value. */
  when?: unknown;
  /** The replacement key in the same map. */
  to: string;
  /** The replacement value. */
  rewrite(value: unknown): unknown;
}

/** All deprecations. */
export const DEPRECATIONS: readonly Deprecation[] = [
  { file: 'config', path: 'project.tools_dir', to: 'tools_dirs', rewrite: (folder) => [folder] },
  {
    file: 'manifest',
    path: 'permissions.network.egress_allow',
    when: '*',
    to: 'egress_allow',
    rewrite: (host) => [host],
  },
];

/** The deprecated parts of a file: entries of the registry with the values in the file. */
export function deprecatedIn(
  file: Deprecation['file'],
  content: unknown,
): { deprecation: Deprecation; value: unknown }[] {
  return DEPRECATIONS.flatMap((deprecation) => {
    const value = deprecation.path
      .split('.')
      .reduce<unknown>(
        (holder, key) => (holder as Record<string, unknown> | null | undefined)?.[key],
        content,
      );
    const isOld = 'when' in deprecation ? value === deprecation.when : value !== undefined;
    return deprecation.file === file && isOld ? [{ deprecation, value }] : [];
  });
}

/** The replacement, in words. */
export function deprecationFix({ to, rewrite }: Deprecation, value: unknown): string {
  return `Write ${to}: ${JSON.stringify(rewrite(value))}`;
}
