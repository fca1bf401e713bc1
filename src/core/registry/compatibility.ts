import { AcorError } from '../../protocol/acor-error.ts';
import type { Manifest } from '../../protocol/manifest.ts';
import { compareVersions } from '../../protocol/semver.ts';
import { ACOR_VERSION } from '../../util/version.ts';

/** The versions of the wire protocol that this ACOR speaks. */
export const SUPPORTED_PROTOCOLS: readonly number[] = [1];

/** Refuses a tool that does not fit this ACOR (contract §1), with what to change: E_INCOMPATIBLE. */
export function assertCompatible(manifest: Manifest, acorVersion: string = ACOR_VERSION): void {
  const { name, protocol_version, min_acor_version } = manifest;
  if (!SUPPORTED_PROTOCOLS.includes(protocol_version)) {
    throw new AcorError(
      'E_INCOMPATIBLE',
      `tool '${name}' speaks protocol ${protocol_version}; ACOR ${acorVersion} speaks ${SUPPORTED_PROTOCOLS.join(', ')}`,
      {
        hint: `Use an ACOR that speaks protocol ${protocol_version}, or a version of the tool with protocol_version: ${SUPPORTED_PROTOCOLS.at(-1)}.`,
        details: { protocol_version, supported: SUPPORTED_PROTOCOLS },
      },
    );
  }
  if (min_acor_version !== undefined && compareVersions(acorVersion, min_acor_version) < 0) {
    throw new AcorError(
      'E_INCOMPATIBLE',
      `tool '${name}' needs ACOR ${min_acor_version} or later, and this is ${acorVersion}`,
      {
        hint: `Update ACOR to ${min_acor_version} or later, or use a version of the tool that asks for less in min_acor_version.`,
        details: { min_acor_version, acor_version: acorVersion },
      },
    );
  }
}
