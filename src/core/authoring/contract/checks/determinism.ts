import { brokenBy, type Check, evidenceOf, finding, nameOf, notJudged } from '../finding.ts';
import type { Call, Observed, Purpose } from '../observe.ts';
import { envelopeIn, fieldsOf } from '../printed.ts';

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
