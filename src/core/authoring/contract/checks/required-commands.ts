import { catalogOf, healthOf } from '../catalog-of.ts';
import { brokenBy, type Check, evidenceOf, finding, HOLDS, helpEvidence, notJudged } from '../finding.ts';
import { callsFor } from '../observe.ts';
import { fieldsOf } from '../printed.ts';

const EQUIVALENT = /^--(?:llms|llms-full|schema|json-schema|dump-schema|help-json)$/;

export const toolsCommand: Check = {
  rule: 'tools-command',
  judge(observed) {
    const { program, surface } = observed;
    if (catalogOf(observed) !== undefined) return HOLDS;
    const other = surface.root?.help.options
      .flatMap(({ spellings }) => spellings)
      .find((each) => EQUIVALENT.test(each));
    const [call] = callsFor(observed, 'tools');
    const isOne = surface.commands.length === 0;
    return {
      kind: 'broken',
      findings: [
        finding({
          rule: 'tools-command',
          severity: isOne ? 'low' : other === undefined ? 'high' : 'medium',
          message: isOne
            ? 'only its help describes its options: there is no machine-readable description'
            : other === undefined
              ? `there is no catalog: '${program} tools' prints none`
              : `the catalog is printed by ${other}, not by '${program} tools'`,
          evidence:
            call === undefined
              ? [helpEvidence(surface, [], surface.root?.text ?? '')]
              : [
                  evidenceOf(program, call, 'exit'),
                  evidenceOf(program, call, call.stdout === '' ? 'stderr' : 'stdout'),
                ],
          fix: `Add '${program} tools', generated from the registry of commands: {ok, data: {tools, globalFlags}, meta}.`,
          surface: [{ change: 'add', command: 'tools', what: 'the catalog of all commands', breaks: false }],
        }),
      ],
    };
  },
};

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

const LISTED = /^(?:config|settings|info|env)$/;
/** `systemctl show`: properties of one or more units, jobs or the manager. */
const SETTINGS = /\b(?:config(?:uration)?|settings|properties)\b/i;
const OPTION = /^--(?:show|print|dump|list)-config(?:uration)?$/;

export const configCommand: Check = {
  rule: 'config-command',
  judge(observed) {
    const { program, surface } = observed;
    const calls = callsFor(observed, 'config');
    const [first] = calls;
    if (first === undefined) return notJudged('the program has no commands');
    const isListed =
      observed.hasConfigProgram ||
      surface.commands.some(({ words, summary }) => words.join(' ') === 'show' && SETTINGS.test(summary)) ||
      surface.commands.some(({ words }) => words.length === 1 && LISTED.test(words[0]!)) ||
      surface.root?.help.options.some(({ spellings }) => spellings.some((each) => OPTION.test(each)));
    if (isListed || calls.some(({ rc }) => rc === 0)) return HOLDS;
    return {
      kind: 'broken',
      findings: [
        finding({
          rule: 'config-command',
          severity: 'low',
          message: `there is no '${program} config show', nor an equivalent`,
          evidence: [
            evidenceOf(program, first, 'exit'),
            evidenceOf(program, first, first.stderr === '' ? 'stdout' : 'stderr'),
          ],
          fix: `Add '${program} config show': each setting with its value and its source.`,
          surface: [
            { change: 'add', command: 'config show', what: 'the settings and their sources', breaks: false },
          ],
        }),
      ],
    };
  },
};
