import { catalogOf } from '../catalog-of.ts';
import { type Check, evidenceOf, finding, HOLDS, helpEvidence } from '../finding.ts';
import { callsFor } from '../observe.ts';

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
