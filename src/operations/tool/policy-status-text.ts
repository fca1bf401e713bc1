import type { Standing } from './policy-status.ts';

/** What the policy and the approvals say of a tool, in sentences for a person. */
export function standingWords(
  { allowed, violations, files, approval, masked = [] }: Standing,
  tool: string,
): string[] {
  const names = files.map(({ file }) => file).join(', ');
  const policy =
    files.length === 0 && allowed
      ? 'There is no policy file; what is built in allows it.'
      : `The policy${names === '' ? '' : ` (${names})`} ${allowed ? 'allows it.' : 'refuses it:'}`;
  return [
    policy,
    ...violations.flatMap(({ path, rule, by, fix }) => [`- ${path}: ${rule} (${by})`, `  ${fix}`]),
    ...approvalWords(approval, tool),
    ...(masked.length === 0
      ? []
      : [`Masked, here and for the programs of the policy: ${masked.join(', ')}.`]),
  ];
}

function approvalWords({ state, by, at, changed }: Standing['approval'], tool: string): string[] {
  switch (state) {
    case 'not_needed':
      return ['It needs no approval.'];
    case 'valid':
      return [`It is approved by ${by}${at === null ? '' : ` since ${at}`}, for these very files.`];
    case 'missing':
      return [`Nobody has approved it. A person does so at a terminal with: acor approve ${tool}`];
    case 'stale':
      return [
        `Its approval by ${by} of ${at} no longer holds, because ${changed.join(' and ')} changed. ` +
          `A person gives it anew at a terminal with: acor approve ${tool}`,
      ];
  }
}
