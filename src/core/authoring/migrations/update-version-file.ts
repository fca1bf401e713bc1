import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { SEE_VERSIONS } from '../../../protocol/next-steps.ts';
import { PROTOCOL_VERSION } from '../../../protocol/v1/wire.ts';
import { versionFile } from '../../../protocol/version-file.ts';
import { unifiedDiff } from '../../../util/unified-diff.ts';
import { ACOR_VERSION } from '../../../util/version.ts';
import { checkFile } from '../../config/check-file.ts';
import { CONFIG_VERSION } from '../../config/config-version.ts';
import { isNamed } from '../../config/find.ts';
import { refuse } from '../../config/problem.ts';
import { replaceFile } from '../../config/replace-file.ts';
import { readYamlFile } from '../../config/yaml-file.ts';

/**
 * Updates the format versions in `version.json`. The diff is empty when nothing changes; null when the file does not
 * exist.
 */
export async function updateVersionFile(
  root: string,
  { dryRun }: { dryRun: boolean },
): Promise<{ file: string; diff: string } | null> {
  const file = join(root, '.acor', 'version.json');
  if (!isNamed(file)) return null;
  const yaml = await readYamlFile(file, { within: root });
  const { data, problems } = checkFile(versionFile, yaml);
  refuse(problems);
  const { config, protocol } = data!.schema_versions;
  if (config > CONFIG_VERSION || protocol > PROTOCOL_VERSION) {
    throw new AcorError(
      'E_INCOMPATIBLE',
      `${file} names configuration ${config} and protocol ${protocol}; ACOR ${ACOR_VERSION} knows ${CONFIG_VERSION} and ${PROTOCOL_VERSION}`,
      { hint: 'Use a later ACOR.', next: [SEE_VERSIONS] },
    );
  }
  const before = readFileSync(file, 'utf8');
  const schema_versions = { config: CONFIG_VERSION, protocol: PROTOCOL_VERSION };
  const isCurrent = config === CONFIG_VERSION && protocol === PROTOCOL_VERSION;
  const after = isCurrent ? before : `${JSON.stringify({ ...data, schema_versions }, null, 2)}\n`;
  if (!dryRun && after !== before) replaceFile(file, after);
  return { file, diff: unifiedDiff(relative(root, file), before, after) };
}
