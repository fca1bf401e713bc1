import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { PROGRAMS, versionHere } from '../support/audited-programs.ts';
import { judgedAudits, precisionOf, sameFindings } from '../support/judged-audits.ts';
import { ROOT, TestProject } from '../support/project.ts';

const LEAST_PRECISION = 0.9;
const AUDITS = judgedAudits();

describe('audits of real programs', () => {
  it('are right in nine of ten findings at least, also with the debatable ones as wrong', () => {
    assert.ok(AUDITS.length >= 15, `${AUDITS.length} programs`);
    const all = AUDITS.flatMap(({ findings }) => findings);
    assert.ok(all.every(({ judgement, why }) => judgement === 'right' || why !== undefined));
    const { text, precision, strict, unjudged } = precisionOf(AUDITS);
    process.stdout.write(`${text}\n`);
    assert.equal(unjudged, 0);
    assert.ok(precision >= LEAST_PRECISION && strict >= LEAST_PRECISION, text);
    const docs = readFileSync(join(ROOT, 'docs', 'compose.md'), 'utf8').replaceAll('\n', ' ');
    assert.ok(docs.includes(text), `docs/compose.md must say: ${text}`);
  });

  for (const program of PROGRAMS) {
    const judged = AUDITS.find((each) => each.program === program.name);
    const here = versionHere(program);
    const skip =
      program.notInSuite ??
      (here === undefined
        ? `${program.name} is not here (npm run audits -- --install)`
        : here !== judged?.version && `${program.name} is here as ${here}, and judged as ${judged?.version}`);
    it(`find the same in ${program.name} again`, { skip }, async () => {
      using project = new TestProject();
      const { data, error } = await project.envelope([
        ...['compose', 'audit', program.word, '--commands', '25'],
        ...program.calls.flatMap((call) => ['--call', call]),
      ]);
      assert.equal(error, undefined);
      const lines = (list: { rule: string; severity: string; message: string }[]) =>
        list.map(({ rule, severity, message }) => `${rule} ${severity}: ${message}`).join('\n');
      assert.ok(
        sameFindings(data.findings, judged!.findings),
        `judged:\n${lines(judged!.findings)}\nfound:\n${lines(data.findings)}`,
      );
    });
  }
});
