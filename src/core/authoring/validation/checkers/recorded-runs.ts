import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { recordedRun } from '../../../../protocol/recorded-run.ts';
import { readRecording, whyDifferent } from '../../../adapters/recorded-run.ts';
import { checkFile } from '../../../config/check-file.ts';
import { readYamlFile } from '../../../config/yaml-file.ts';
import type { ToolEntry } from '../../../registry/registry.ts';
import type { Checker } from '../checker.ts';
import { type Finding, findingOf } from '../finding.ts';
import { playRecording } from '../play-recording.ts';

/** The adapters whose output can be read again: those of agents wait for a live program and its files. */
const READ_AGAIN = ['plain', 'jsonl', 'jsonl-map', 'text-map'];

/** Reads the recorded outputs of tools again, as their manifests declare. It starts no program. */
export const recordedRuns: Checker = {
  name: 'recorded-runs',
  async check({ tools }) {
    return (await Promise.all(tools.map(checkTool))).flat();
  },
};

async function checkTool(tool: ToolEntry): Promise<Finding[]> {
  const { dir, manifest, manifestPath, problems } = tool;
  const folder = join(dir, 'tests');
  const isRead = manifestPath !== null && READ_AGAIN.includes(manifest.adapter);
  if (!isRead || problems.length > 0 || !existsSync(folder)) return [];
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
    if (data === undefined) continue;
    const isPlain = manifest.adapter === 'plain';
    const why = whyDifferent(isPlain ? readRecording(manifest, data) : await playRecording(tool, data), data);
    if (why === undefined) continue;
    findings.push(
      findingOf({
        ...{ file, line: 0, column: 0, rule: 'recorded-run' },
        message: `the recorded run does not come out as it did: ${why}`,
        fix: 'Repair output, map, errors or exit_codes in the manifest, or record the run again.',
      }),
    );
  }
  return findings;
}
