import { healthOf } from '../catalog-of.ts';
import { brokenBy, type Check, evidenceOf, finding, notJudged } from '../finding.ts';
import { callsFor } from '../observe.ts';
import { fieldsOf } from '../printed.ts';

const STATUS = ['ready', 'degraded', 'blocked'];
const FINE = ['ok', 'pass', 'passed', 'ready', 'healthy'];

export const healthShape: Check = {
  rule: 'health-shape',
  judge(observed) {
    const [call] = callsFor(observed, 'health');
    const report = healthOf(observed);
    if (call === undefined || (report === undefined && call.rc !== 0))
      return notJudged('there is no health command');
    const problems: string[] = [];
    if (report === undefined) problems.push('it prints text instead of a report');
    else {
      if (!STATUS.includes(String(report['status'])))
        problems.push('its status is not ready, degraded or blocked');
      const checks = Array.isArray(report['checks']) ? report['checks'].map(fieldsOf) : undefined;
      if (checks === undefined) problems.push('it has no checks');
      const failing = checks?.filter(
        (each) => !FINE.includes(String(each?.['status'] ?? (each?.['ok'] === true ? 'ok' : ''))),
      );
      const mute = failing?.filter((each) => typeof each?.['fix'] !== 'string');
      if (mute !== undefined && mute.length > 0)
        problems.push(`no fix for ${mute.map((each) => String(each?.['name'])).join(', ')}`);
    }
    return brokenBy(
      problems.map((message) =>
        finding({
          rule: 'health-shape',
          severity: 'medium',
          message: `health: ${message}`,
          evidence: [evidenceOf(observed.program, call, 'stdout')],
          fix: 'Answer with {status: ready|degraded|blocked, checks: [{name, status, detail, fix}]}.',
          surface: [{ change: 'change', command: 'health', what: message, breaks: true }],
        }),
      ),
    );
  },
};
