/** A deprecated key, or a deprecated notation of its value, and the replacement. Paths are dotted. */
export interface Deprecation {
  file: 'config' | 'manifest';
  /** The place of the key. */
  path: string;
  /** Only when the value is this one; undefined for any value. */
  when?: unknown;
  /** The replacement: a key in the same map and its value; for a key without one, why it has no effect. */
  to: string | { removed: string };
  rewrite(value: unknown): unknown;
}

const asIs = (value: unknown) => value;

/** All deprecations. */
export const DEPRECATIONS: readonly Deprecation[] = [
  { file: 'config', path: 'project.tools_dir', to: 'tools_dirs', rewrite: (folder) => [folder] },
  {
    file: 'config',
    path: 'security.workspace_isolation',
    to: { removed: 'each run has a workspace of its own, and security.isolation decides on the sandbox' },
    rewrite: asIs,
  },
  {
    file: 'config',
    path: 'security.drop_privileges',
    to: { removed: 'the permissions.level of a tool decides on its privileges' },
    rewrite: asIs,
  },
  {
    file: 'manifest',
    path: 'health.describe',
    to: { removed: 'ACOR reads the manifest and does not ask the tool' },
    rewrite: asIs,
  },
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
  if (typeof to !== 'string') return `Remove it, as it has no effect: ${to.removed}.`;
  return `Write ${to}: ${JSON.stringify(rewrite(value))}`;
}
