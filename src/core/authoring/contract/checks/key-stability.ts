import { brokenBy, type Check, evidenceOf, finding, nameOf, notJudged } from '../finding.ts';
import { dataCalls } from '../observe.ts';
import { envelopeIn, fieldsOf, payloadOf, printed } from '../printed.ts';
import { pairsOf } from './determinism.ts';

export const keyStability: Check = {
  rule: 'key-stability',
  judge(observed) {
    const calls = dataCalls(observed).filter(({ stdout }) => printed(stdout).kind === 'json');
    if (calls.length === 0) return notJudged('no call printed JSON');
    const enveloped = calls.filter(({ stdout }) => envelopeIn(stdout) !== undefined);
    const bare = calls.filter(({ stdout }) => envelopeIn(stdout) === undefined);
    const changing = pairsOf(observed).filter(
      ([one, other]) => one.rc === 0 && other.rc === 0 && keysOf(one.stdout) !== keysOf(other.stdout),
    );
    return brokenBy([
      enveloped.length === 0 || bare.length === 0
        ? undefined
        : finding({
            rule: 'key-stability',
            severity: 'medium',
            message: `some answers have the envelope, and others have not: ${bare.map(({ args }) => nameOf(args)).join(', ')}`,
            commands: bare.map(({ args }) => nameOf(args)),
            evidence: [...enveloped.slice(0, 1), ...bare].map((call) =>
              evidenceOf(observed.program, call, 'stdout'),
            ),
            fix: 'Use one writer of envelopes in all commands.',
          }),
      changing.length === 0
        ? undefined
        : finding({
            rule: 'key-stability',
            severity: 'medium',
            message: `two equal calls have different keys: ${changing.map(([{ args }]) => nameOf(args)).join(', ')}`,
            commands: changing.map(([{ args }]) => nameOf(args)),
            evidence: changing.map(([call]) => evidenceOf(observed.program, call, 'stdout')),
            fix: 'Print every key in every answer, with null for what is not known.',
          }),
    ]);
  },
};

/** The keys of a payload, and of the first element of each list in it. */
function keysOf(stdout: string): string {
  return JSON.stringify(shapeOf(payloadOf(stdout), 0));
}

const MAX_DEPTH = 4;

function shapeOf(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0], depth + 1)];
  const fields = fieldsOf(value);
  return fields === undefined
    ? null
    : Object.keys(fields)
        .toSorted()
        .map((key) => [key, shapeOf(fields[key], depth + 1)]);
}
