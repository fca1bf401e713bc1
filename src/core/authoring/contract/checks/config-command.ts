import { type Check, evidenceOf, finding, HOLDS, notJudged } from '../finding.ts';
import { callsFor } from '../observe.ts';

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
