import { brokenBy, type Check, evidenceOf, finding, nameOf } from '../finding.ts';
import type { Call } from '../observe.ts';

const PROMPT = /(?:\[[yY]\/[nN]\]|\[[yY]es\/[nN]o\]|\(y\/n\)|password:|press (?:enter|any key)[^\n]*)\s*$/i;

export const nonInteractive: Check = {
  rule: 'non-interactive',
  judge({ program, calls }) {
    const waits = calls.filter(({ trouble }) => trouble?.includes('did not end') === true);
    const prompts = calls.filter(({ stdout, stderr }) => PROMPT.test(stdout) || PROMPT.test(stderr));
    const found = (severity: 'high' | 'medium', message: string, wrong: readonly Call[]) => {
      const commands = [...new Set(wrong.map(({ args }) => nameOf(args)))];
      if (wrong.length === 0) return undefined;
      return finding({
        rule: 'non-interactive',
        severity,
        message: `${message}: ${commands.join(', ')}`,
        commands,
        evidence: wrong.flatMap((call) => [
          evidenceOf(program, call, 'exit'),
          evidenceOf(program, call, call.stderr === '' ? 'stdout' : 'stderr'),
        ]),
        fix: 'Ask only when both stdin and stdout are terminals; otherwise fail at once, and name the flag or the prerequisite.',
      });
    };
    return brokenBy([
      found('high', 'a call without a terminal asks a question', prompts),
      found('medium', 'a call with an empty stdin and without a network does not end', waits),
    ]);
  },
};
