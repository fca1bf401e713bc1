import { brokenBy, type Check, evidenceOf, finding, nameOf, notJudged } from '../finding.ts';
import { type Call, dataCalls, type Observed, type Purpose } from '../observe.ts';
import { envelopeIn, fieldsOf, payloadOf, printed } from '../printed.ts';

const PAIRS: readonly (readonly [Purpose, Purpose])[] = [
  ['tools', 'tools-again'],
  ['read', 'read-again'],
  ['read-structured', 'read-structured-again'],
  ['given', 'given-again'],
];

export const determinism: Check = {
  rule: 'determinism',
  judge(observed) {
    const pairs = pairsOf(observed).filter(([one, other]) => isAnswer(one) && isAnswer(other));
    if (pairs.length === 0) return notJudged('no call was made twice');
    const differing = pairs.filter(
      ([one, other]) => one.rc !== other.rc || comparable(one) !== comparable(other),
    );
    const commands = differing.map(([{ args }]) => nameOf(args));
    return brokenBy([
      differing.length === 0
        ? undefined
        : finding({
            rule: 'determinism',
            severity: 'medium',
            message: `two equal calls answer differently: ${commands.join(', ')}`,
            commands,
            // The bytes differ in each audit, so that they are no evidence that stays the same.
            evidence: differing.map(([call]) => ({
              ...evidenceOf(observed.program, call, 'exit'),
              bytes: 'two outputs differ',
            })),
            fix: 'Order lists, and leave times, process ids and random values out of data that did not change.',
          }),
    ]);
  },
};

/** The calls that were made twice. */
export function pairsOf({ calls }: Observed): (readonly [Call, Call])[] {
  return PAIRS.flatMap(([first, second]) =>
    calls
      .filter(({ purpose }) => purpose === first)
      .flatMap((call) => {
        const again = calls.find(
          (each) => each.purpose === second && nameOf(each.args) === nameOf(call.args),
        );
        return again === undefined ? [] : [[call, again] as const];
      }),
  );
}

/** An error as text may name the file of its log. */
function isAnswer({ rc, trouble, stdout }: Call): boolean {
  return trouble === null && (rc === 0 || envelopeIn(stdout) !== undefined);
}

/** `up to date in 350ms`: two such texts may be equal by chance, and two audits would differ. */
const TOOK = /\bin \d+(?:\.\d+)? ?(?:ms|s|m|min|seconds?|minutes?)\b/g;

/** An answer without the time that it took, and without an estimate of its length. */
function comparable({ stdout }: Call): string {
  const envelope = envelopeIn(stdout);
  if (envelope === undefined) return stdout.replace(TOOK, 'in a while');
  const { elapsed: _elapsed, tokens: _tokens, ...meta } = fieldsOf(envelope['meta']) ?? {};
  return JSON.stringify({ ...envelope, meta });
}

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
