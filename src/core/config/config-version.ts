import { UPGRADE_CONFIG } from '../../protocol/next-steps.ts';
import type { Problem } from './problem.ts';
import type { YamlFile } from './yaml-file.ts';

/** The configuration version that this ACOR reads and writes. */
export const CONFIG_VERSION = 1;

/** The problem of a different version. It is the only one reported: the other rules do not apply to that version. */
export function otherVersion(yaml: YamlFile): Problem | undefined {
  const version = (yaml.value as { version?: unknown } | null | undefined)?.version;
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || version === CONFIG_VERSION)
    return undefined;
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
