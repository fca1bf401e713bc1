import { brokenBy, type Check, evidenceOf, finding, nameOf } from '../finding.ts';

const ESCAPE = /\x1b[[\]()]/;

export const controlCharacters: Check = {
  rule: 'control-characters',
  judge({ program, calls }) {
    const wrong = calls.filter(({ stdout }) => ESCAPE.test(stdout));
    const commands = [...new Set(wrong.map(({ args }) => nameOf(args)))];
    return brokenBy([
      wrong.length === 0
        ? undefined
        : finding({
            rule: 'control-characters',
            severity: 'medium',
            message: `stdout has escape sequences although it is no terminal: ${commands.join(', ')}`,
            commands,
            evidence: wrong.map((call) => evidenceOf(program, call, 'stdout')),
            fix: 'Style text only when stdout is a terminal and NO_COLOR is not set.',
          }),
    ]);
  },
};
