import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { recordedRun } from '../../../../protocol/recorded-run.ts';
import { whyDifferent } from '../../../adapters/recorded-run.ts';
import { checkFile } from '../../../config/check-file.ts';
import { readYamlFile } from '../../../config/yaml-file.ts';
import type { ToolEntry } from '../../../registry/registry.ts';
import type { Checker } from '../checker.ts';
import { type Finding, findingOf } from '../finding.ts';

/** Reads the recorded outputs of plain tools again, as their manifests declare. It starts no program. */
export const recordedRuns: Checker = {
  name: 'recorded-runs',
  async check({ tools }) {
    return (await Promise.all(tools.map(checkTool))).flat();
  },
};

async function checkTool({ dir, manifest, manifestPath, problems }: ToolEntry): Promise<Finding[]> {
  const folder = join(dir, 'tests');
  if (manifestPath === null || manifest.adapter !== 'plain' || problems.length > 0 || !existsSync(folder))
    return [];
  const findings: Finding[] = [];
  for (const name of readdirSync(folder)
    .filter((each) => each.endsWith('.json'))
    .sort()) {
    const file = join(folder, name);
    const { data, problems: wrong } = checkFile(
      recordedRun,
      await readYamlFile(file, { within: dirname(dir) }),
    );
    findings.push(...wrong.map(findingOf));
    const why = data && whyDifferent(manifest, data);
    if (why === undefined) continue;
    findings.push(
      findingOf({
        ...{ file, line: 0, column: 0, rule: 'recorded-run' },
        message: `the recorded run does not come out as it did: ${why}`,
        fix: 'Repair output, errors or exit_codes in the manifest, or record the run again.',
      }),
    );
  }
  return findings;
}
