import { AcorError } from '../../protocol/acor-error.ts';
import type { Manifest } from '../../protocol/manifest.ts';
import { compareVersions } from '../../protocol/semver.ts';
import { ACOR_VERSION } from '../../util/version.ts';

/** The wire protocol versions that this ACOR supports. */
export const SUPPORTED_PROTOCOLS: readonly number[] = [1];

/** Throws E_INCOMPATIBLE, with the necessary change, for a tool that this ACOR cannot run (contract §1). */
export function assertCompatible(manifest: Manifest, acorVersion: string = ACOR_VERSION): void {
  const { name, protocol_version, min_acor_version } = manifest;
  if (!SUPPORTED_PROTOCOLS.includes(protocol_version)) {
    throw new AcorError(
      'E_INCOMPATIBLE',
      `tool '${name}' uses protocol ${protocol_version}; ACOR ${acorVersion} supports ${SUPPORTED_PROTOCOLS.join(', ')}`,
      {
        hint: `Use an ACOR that supports protocol ${protocol_version}, or a version of the tool with protocol_version: ${SUPPORTED_PROTOCOLS.at(-1)}.`,
        details: { protocol_version, supported: SUPPORTED_PROTOCOLS },
      },
    );
  }
  if (min_acor_version !== undefined && compareVersions(acorVersion, min_acor_version) < 0) {
    throw new AcorError(
      'E_INCOMPATIBLE',
      `tool '${name}' needs ACOR ${min_acor_version} or later; this is ACOR ${acorVersion}`,
      {
        hint: `Update ACOR to ${min_acor_version} or later, or use a version of the tool with a lower min_acor_version.`,
        details: { min_acor_version, acor_version: acorVersion },
      },
    );
  }
}
