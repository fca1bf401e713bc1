import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './project.ts';

/** What a person says of a finding: debatable when the contract may be read so that the requirement does not apply. */
export type Judgement = 'right' | 'wrong' | 'debatable' | 'unjudged';

/** The audit of one program, with a judgement of each finding. */
export interface JudgedAudit {
  program: string;
  version: string;
  calls: string[];
  score: number;
  findings: {
    rule: string;
    severity: string;
    message: string;
    evidence: { command: string; stream: string; bytes: string }[];
    judgement: Judgement;
    why?: string;
  }[];
}

export function judgedAudits(): JudgedAudit[] {
  return JSON.parse(readFileSync(join(ROOT, 'test', 'fixtures', 'audits', 'judged.json'), 'utf8'));
}

/** How many findings are right: `precision` without the debatable ones, `strict` with them as wrong. */
export function precisionOf(audits: readonly JudgedAudit[]) {
  const all = audits.flatMap(({ findings }) => findings);
  const count = (wanted: Judgement) => all.filter(({ judgement }) => judgement === wanted).length;
  const [right, wrong, debatable, unjudged] = [
    count('right'),
    count('wrong'),
    count('debatable'),
    count('unjudged'),
  ];
  const precision = right / (right + wrong);
  const strict = right / (right + wrong + debatable);
  const text =
    `${audits.length} programs, ${all.length} findings: ${right} right, ${wrong} wrong, ${debatable} debatable; ` +
    `precision ${precision.toFixed(3)}, with the debatable ones as wrong ${strict.toFixed(3)}`;
  return { text, precision, strict, unjudged, findings: all.length };
}

/** Whether two audits found the same. */
export function sameFindings(
  a: readonly { rule: string; severity: string }[],
  b: readonly { rule: string; severity: string }[],
): boolean {
  const short = (list: typeof a) =>
    list
      .map(({ rule, severity }) => `${rule} ${severity}`)
      .sort()
      .join('\n');
  return short(a) === short(b);
}
