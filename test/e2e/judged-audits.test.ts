import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ROOT, TestProject } from '../support/project.ts';

type Judged = {
  program: string;
  version: string;
  calls: string[];
  findings: { rule: string; severity: string; judgement: 'right' | 'wrong' | 'debatable'; why?: string }[];
};

const LEAST_PRECISION = 0.9;
const AUDITS: Judged[] = JSON.parse(readFileSync(join(ROOT, 'test/fixtures/audits/judged.json'), 'utf8'));
/** Those that need no network and answer within a moment. */
const AGAIN = ['curl', 'git', 'jq', 'sqlite3', 'tar'];

describe('audits of real programs', () => {
  it('are right in nine of ten findings at least', () => {
    assert.ok(AUDITS.length >= 15, `${AUDITS.length} programs`);
    const all = AUDITS.flatMap(({ findings }) => findings);
    const count = (wanted: string) => all.filter(({ judgement }) => judgement === wanted).length;
    const [right, wrong, debatable] = [count('right'), count('wrong'), count('debatable')];
    assert.equal(right + wrong + debatable, all.length);
    assert.ok(all.every(({ judgement, why }) => judgement === 'right' || why !== undefined));
    const precision = right / (right + wrong);
    process.stdout.write(
      `${all.length} findings: ${right} right, ${wrong} wrong, ${debatable} debatable; precision ${precision.toFixed(3)}\n`,
    );
    assert.ok(precision >= LEAST_PRECISION, String(precision));
  });

  for (const { program, version, calls, findings } of AUDITS.filter((each) => AGAIN.includes(each.program))) {
    const here = spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout?.split('\n')[0];
    const skip = here !== version && `${program} is not here as ${version}`;
    it(`find the same in ${program} again`, { skip }, async () => {
      using project = new TestProject();
      const { data, error } = await project.envelope([
        ...['compose', 'audit', program, '--commands', '25'],
        ...calls.flatMap((call) => ['--call', call]),
      ]);
      assert.equal(error, undefined);
      const short = (list: { rule: string; severity: string }[]) =>
        list.map(({ rule, severity }) => `${rule} ${severity}`).sort();
      assert.deepEqual(short(data.findings), short(findings));
    });
  }
});
