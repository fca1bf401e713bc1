import { brokenBy, type Check, evidenceOf, finding, nameOf, notJudged } from '../finding.ts';
import { dataCalls } from '../observe.ts';
import { fieldsOf, printed } from '../printed.ts';

export const envelopeShape: Check = {
  rule: 'envelope-shape',
  judge(observed) {
    if (observed.surface.commands.length === 0)
      return notJudged('the output of a program without commands is its product');
    const calls = dataCalls(observed).filter(({ stdout }) => printed(stdout).kind === 'json');
    if (calls.length === 0) return notJudged('no call printed JSON');
    const bad = calls
      .map((call) => ({ call, lacks: lacksOf(call.stdout) }))
      .filter(({ lacks }) => lacks.length > 0);
    const lacks = [...new Set(bad.flatMap((each) => each.lacks))];
    const commands = [...new Set(bad.map(({ call }) => nameOf(call.command?.words ?? call.args)))];
    return brokenBy([
      bad.length === 0
        ? undefined
        : finding({
            rule: 'envelope-shape',
            severity: 'medium',
            message: `JSON answers are not the envelope of the contract; they have no ${lacks.join(', ')}: ${commands.join(', ')}`,
            commands,
            evidence: bad.map(({ call }) => evidenceOf(observed.program, call, 'stdout')),
            fix: 'Answer with {ok: true, data, meta: {tool, elapsed}} on one line.',
            surface: commands.map((command) => ({
              change: 'change' as const,
              command,
              what: 'put the answer into the envelope',
              breaks: true,
            })),
          }),
    ]);
  },
};

function lacksOf(stdout: string): string[] {
  const document = printed(stdout);
  const fields = document.kind === 'json' ? fieldsOf(document.value) : undefined;
  const meta = fieldsOf(fields?.['meta']);
  return [
    ...(fields?.['ok'] === true ? [] : ['ok']),
    ...(fields !== undefined && 'data' in fields ? [] : ['data']),
    ...(typeof meta?.['tool'] === 'string' ? [] : ['meta.tool']),
    ...(typeof meta?.['elapsed'] === 'number' ? [] : ['meta.elapsed']),
  ];
}
