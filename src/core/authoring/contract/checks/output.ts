import { brokenBy, type Check, evidenceOf, finding, nameOf, notJudged } from '../finding.ts';
import { callsFor, dataCalls } from '../observe.ts';
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
