import { UPGRADE_CONFIG } from '../../protocol/next-steps.ts';
import type { Problem } from './problem.ts';
import type { YamlFile } from './yaml-file.ts';

/** The configuration version that this ACOR reads and writes. */
export const CONFIG_VERSION = 1;

/** The settings of version 0 that version 1 has in sections. */
export const FLAT_SETTINGS = [
  'name',
  'tools_dir',
  'runs_dir',
  'registry_dir',
  'base_env_allowlist',
  'timeout_s',
  'heartbeat_grace_s',
  'max_output_size',
] as const;

/** The version of a configuration: of one that does not say it, the version of its settings. Undefined when it is not a whole number. */
export function versionOf(value: unknown): number | undefined {
  const { version, ...settings } = (value ?? {}) as Record<string, unknown>;
  if (version === undefined) return FLAT_SETTINGS.some((name) => name in settings) ? 0 : CONFIG_VERSION;
  return typeof version === 'number' && Number.isSafeInteger(version) ? version : undefined;
}

/** The problem of a different version. It is the only one reported: the other rules do not apply to that version. */
export function otherVersion(yaml: YamlFile): Problem | undefined {
  const version = versionOf(yaml.value);
  if (version === undefined || version === CONFIG_VERSION) return undefined;
  const isOlder = version >= 0 && version < CONFIG_VERSION;
  return {
    file: yaml.file,
    ...yaml.placeOf(['version']),
    rule: 'config-version',
    message: `the file has version ${version}; this ACOR reads version ${CONFIG_VERSION}`,
    ...(isOlder && { next: [UPGRADE_CONFIG] }),
    fix: isOlder
      ? 'Bring it up to date.'
      : `Use an ACOR that reads version ${version}, or write version: ${CONFIG_VERSION} and what that has.`,
  };
}
