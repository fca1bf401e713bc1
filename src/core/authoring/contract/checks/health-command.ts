import { healthOf } from '../catalog-of.ts';
import { type Check, evidenceOf, finding, HOLDS, notJudged } from '../finding.ts';
import { callsFor } from '../observe.ts';

const NEAR = /^(?:doctor|diagnose|check-health|healthcheck|self-test|selftest)$/;

export const healthCommand: Check = {
  rule: 'health-command',
  judge(observed) {
    const { program, surface } = observed;
    const [call] = callsFor(observed, 'health');
    if (call === undefined) return notJudged('the program has no commands');
    if (healthOf(observed) !== undefined || (call.rc === 0 && call.stdout.trim() !== '')) return HOLDS;
    const near = surface.commands.find(({ words }) => words.length === 1 && NEAR.test(words[0]!));
    return {
      kind: 'broken',
      findings: [
        finding({
          rule: 'health-command',
          severity: near === undefined ? 'medium' : 'low',
          message:
            near === undefined
              ? `there is no '${program} health'`
              : `readiness is reported by '${program} ${near.words[0]}', not by '${program} health'`,
          evidence: [
            evidenceOf(program, call, 'exit'),
            evidenceOf(program, call, call.stderr === '' ? 'stdout' : 'stderr'),
          ],
          fix: `Add '${program} health': {status: ready|degraded|blocked, checks: [{name, status, detail, fix}]}.`,
          surface: [
            { change: 'add', command: 'health', what: 'the status of all prerequisites', breaks: false },
          ],
        }),
      ],
    };
  },
};
