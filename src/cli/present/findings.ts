import type { Screen } from '../../compose/screen.ts';
import { styled } from '../../compose/style.ts';
import { type FindingData, placed } from '../../operations/project/findings.ts';

/** Findings for a person, each with its place and its fix. */
export function findingLines(findings: readonly FindingData[], screen: Screen): string[] {
  return findings.flatMap((finding) => [
    `${placed(finding)}: ${styled(finding.severity, finding.severity === 'error' ? 'red' : 'yellow', screen)}: ${finding.message} [${finding.rule}]`,
    `  ${finding.fix}`,
  ]);
}
