import { sentence } from '../../../util/sentence.ts';
import type { Finding } from './finding.ts';
import { RULES, type RuleId, type Severity } from './rules.ts';

const LEVEL = { critical: 'error', high: 'error', medium: 'warning', low: 'note' } as const satisfies Record<
  Severity,
  string
>;

/** The findings as SARIF 2.1.0, the format that code hosts show beside a change. `uri` is the file of the program. */
export function sarifOf(findings: readonly Finding[], uri: string, version: string): string {
  const rules = [...new Set(findings.map(({ rule }) => rule))];
  return `${JSON.stringify(
    {
      $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
      version: '2.1.0',
      runs: [
        {
          tool: { driver: { name: 'acor-compose-audit', version, rules: rules.map(ruleOf) } },
          results: findings.map(({ rule, severity, message, evidence, fix }) => ({
            ruleId: rule,
            ruleIndex: rules.indexOf(rule),
            level: LEVEL[severity],
            message: { text: `${sentence(message)} ${fix}` },
            locations: [{ physicalLocation: { artifactLocation: { uri }, ...regionOf(evidence) } }],
            partialFingerprints: { rule: `${rule}/${severity}` },
            properties: { severity, evidence },
          })),
        },
      ],
    },
    null,
    2,
  )}\n`;
}

function ruleOf(id: RuleId) {
  const { section, source, impact } = RULES[id];
  return {
    id,
    shortDescription: { text: source },
    fullDescription: { text: impact },
    properties: { section },
  };
}

/** The line of the source, where a finding comes from reading it. */
function regionOf(evidence: Finding['evidence']) {
  const line = evidence.find(({ stream }) => stream === 'source')?.command.match(/:(\d+)$/)?.[1];
  return line === undefined ? {} : { region: { startLine: Number(line) } };
}
