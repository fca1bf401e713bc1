import { brokenBy, type Check, evidenceOf, finding, nameOf, notJudged } from '../finding.ts';
import { callsFor } from '../observe.ts';
import { printed } from '../printed.ts';

export const stdoutPurity: Check = {
  rule: 'stdout-purity',
  judge(observed) {
    const asked = callsFor(observed, 'read-structured', 'unknown-option-structured');
    const plain = callsFor(observed, 'read', 'given', 'tools', 'health', 'unknown-option', 'missing-object');
    const structured = [
      ...asked,
      ...plain.filter(({ stdout }) => ['json', 'jsonl', 'mixed'].includes(printed(stdout).kind)),
    ].filter(({ stdout }) => stdout.trim() !== '');
    if (structured.length === 0) return notJudged('no call printed JSON');
    const mixed = structured.filter(
      (call) =>
        printed(call.stdout).kind === 'mixed' ||
        (call.purpose === 'read-structured' && call.rc === 0 && printed(call.stdout).kind === 'text'),
    );
    const commands = [...new Set(mixed.map(({ args }) => nameOf(args)))];
    return brokenBy([
      mixed.length === 0
        ? undefined
        : finding({
            rule: 'stdout-purity',
            severity: 'high',
            message: `stdout has text that is not JSON: ${commands.join(', ')}`,
            commands,
            evidence: mixed.map((call) => evidenceOf(observed.program, call, 'stdout')),
            fix: 'Write everything but the one document to stderr.',
            surface: commands.map((command) => ({
              change: 'change' as const,
              command,
              what: 'keep stdout free of other text',
              breaks: false,
            })),
          }),
    ]);
  },
};
