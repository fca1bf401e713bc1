/** A key, or a way of writing one, that is still read and has a better one. Paths are dotted. */
export interface Deprecation {
  file: 'config' | 'manifest';
  /** Where it stands. */
  path: string;
  /** Only when the value is this one; left out, whatever it is. */
  when?: unknown;
  /** The key to write instead, in the same map. */
  to: string;
  /** The value to write there. */
  rewrite(value: unknown): unknown;
}

/** Everything that is still read and no longer to be written. */
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

/** What is outdated in a file: by its place in the registry, with the value that stands there. */
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

/** What to write instead, in words. */
export function deprecationFix({ to, rewrite }: Deprecation, value: unknown): string {
  return `Write ${to}: ${JSON.stringify(rewrite(value))}`;
}
