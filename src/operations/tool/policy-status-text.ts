import type { PolicyStatus } from './policy-status.ts';

/** The policy status of a tool, in sentences for a person. Without the command that approves it where the answer has that among its next steps. */
export function policyStatusWords(
  { allowed, violations, files, approval, masked = [] }: PolicyStatus,
  approveCommand?: string,
): string[] {
  const names = files.map(({ file }) => file).join(', ');
  const policy =
    files.length === 0 && allowed
      ? 'There is no policy file; the built-in policy allows it.'
      : `The policy${names === '' ? '' : ` (${names})`} ${allowed ? 'allows it.' : 'rejects it:'}`;
  return [
    policy,
    ...violations.flatMap(({ path, rule, by, fix }) => [`- ${path}: ${rule} (${by})`, `  ${fix}`]),
    ...approvalWords(approval, approveCommand),
    ...(masked.length === 0
      ? []
      : [`Masked in this answer, and for the policy's own programs: ${masked.join(', ')}.`]),
  ];
}

function approvalWords({ state, by, at, changed }: PolicyStatus['approval'], command?: string): string[] {
  const how = command === undefined ? '.' : `: ${command}`;
  switch (state) {
    case 'not_needed':
      return ['It needs no approval.'];
    case 'valid':
      return [`${by} approved these versions of its files${at === null ? '' : ` at ${at}`}.`];
    case 'missing':
      return [`It is not approved. A person can approve it at a terminal${how}`];
    case 'stale':
      return [
        `Its approval by ${by} of ${at} is no longer valid, because ${changed.join(' and ')} changed. ` +
          `A person can approve it again at a terminal${how}`,
      ];
  }
}
