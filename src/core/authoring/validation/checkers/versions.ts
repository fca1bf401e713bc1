import { AcorError } from '../../../../protocol/acor-error.ts';
import { type NextStep, SEE_VERSIONS, UPGRADE } from '../../../../protocol/next-steps.ts';
import { SEMVER, withinRange } from '../../../../protocol/semver.ts';
import { versionFile } from '../../../../protocol/version-file.ts';
import { ACOR_VERSION } from '../../../../util/version.ts';
import { checkFile } from '../../../config/check-file.ts';
import { CONFIG_VERSION, otherVersion } from '../../../config/config-version.ts';
import { type KeyPath, readYamlFile, type YamlFile } from '../../../config/yaml-file.ts';
import { assertCompatible, SUPPORTED_PROTOCOLS } from '../../../registry/compatibility.ts';
import type { ToolEntry } from '../../../registry/registry.ts';
import type { Checker } from '../checker.ts';
import { type Finding, findingOf, placesIn } from '../finding.ts';
import type { Subject } from '../subject.ts';

/** Checks that tools, configuration and `version.json` are compatible with this version of ACOR. */
export const versions: Checker = {
  name: 'versions',
  isAsked: (options) => options.versions,
  check: compatibilityOf,
};

/** The version check, which always runs. */
export async function compatibilityOf({
  config,
  configFiles,
  versionFiles,
  tools,
}: Subject): Promise<Finding[]> {
  const found = [
    ...configFiles.map(checkConfig),
    ...versionFiles.map((file) => checkVersionFile(file, config.root)),
    ...tools.map(checkTool),
  ];
  return (await Promise.all(found)).flat();
}

async function checkConfig(file: string): Promise<Finding[]> {
  const yaml = await readYamlFile(file);
  const other = otherVersion(yaml);
  if (other !== undefined) return [findingOf(other)];
  const wrote = (yaml.value as { acor_version?: unknown } | undefined)?.acor_version;
  return typeof wrote === 'string' && SEMVER.test(wrote) ? writtenBy(wrote, yaml, ['acor_version']) : [];
}

async function checkVersionFile(file: string, within: string): Promise<Finding[]> {
  const yaml = await readYamlFile(file, { within });
  const { data, problems } = checkFile(versionFile, yaml);
  if (data === undefined) return problems.map(findingOf);
  const { config, protocol } = data.schema_versions;
  const findings = writtenBy(data.created_by, yaml, ['created_by']);
  if (config > CONFIG_VERSION || !SUPPORTED_PROTOCOLS.includes(protocol)) {
    findings.push(
      found(
        yaml,
        ['schema_versions'],
        'incompatible',
        `the project has configuration ${config} and protocol ${protocol}; ACOR ${ACOR_VERSION} reads configuration ${CONFIG_VERSION} and supports protocol ${SUPPORTED_PROTOCOLS.join(', ')}`,
        'Use an ACOR that reads these.',
      ),
    );
  } else if (config !== CONFIG_VERSION) {
    const message = `the file says that the configuration is of version ${config}, and it is of version ${CONFIG_VERSION}`;
    findings.push(
      found(yaml, ['schema_versions', 'config'], 'version-file', message, 'Bring it up to date.', [UPGRADE]),
    );
  }
  return findings;
}

async function checkTool({ manifest, manifestPath }: ToolEntry): Promise<Finding[]> {
  if (manifestPath === null) return [];
  try {
    assertCompatible(manifest);
    return [];
  } catch (error) {
    if (!(error instanceof AcorError)) throw error;
    const key = error.details?.['min_acor_version'] === undefined ? 'protocol_version' : 'min_acor_version';
    const yaml = await placesIn(manifestPath);
    return [
      found(
        yaml,
        [key],
        'incompatible',
        error.message,
        error.hint ?? 'Compare the versions.',
        error.hint === undefined ? [SEE_VERSIONS] : undefined,
      ),
    ];
  }
}

/** A newer version of the same line may have written unknown keys. A different line certainly did. */
function writtenBy(version: string, yaml: YamlFile, path: KeyPath): Finding[] {
  if (withinRange(ACOR_VERSION, `>=${version}`)) return [];
  const isSameLine = withinRange(version, `^${ACOR_VERSION}`);
  return [
    found(
      yaml,
      path,
      isSameLine ? 'newer-acor' : 'incompatible',
      `ACOR ${version} wrote this file; this is ACOR ${ACOR_VERSION}`,
      `Use ACOR ${version} or later.`,
    ),
  ];
}

function found(
  yaml: YamlFile,
  path: KeyPath,
  rule: string,
  message: string,
  fix: string,
  next?: readonly NextStep[],
): Finding {
  return findingOf({ file: yaml.file, ...yaml.placeOf(path), rule, message, fix, ...(next && { next }) });
}
