import type { Call } from './observe.ts';

const BLOCKED =
  /not a git repository|(?:cannot|can't|can not|could not|couldn't|failed to|unable to) (?:connect|reach|open a connection|access)|connection (?:refused|to the server)|network is unreachable|no such host|could not resolve|not logged in|log ?in (?:first|to)|permission denied|operation not permitted|are you root|not been booted with systemd|daemon running|no (?:configuration|credentials?|token)|(?:configuration|credentials?|token)s? (?:was |were |is |are )?(?:not found|missing|required)|read-only file system/i;

/** Whether a failure says that something must be provided first. */
export function isBlocked(call: Call): boolean {
  return blockedBy(call) !== undefined;
}

/** The words of a failure that say so. */
export function blockedBy({ rc, stdout, stderr }: Call): string | undefined {
  return rc === null || rc === 0 ? undefined : BLOCKED.exec(`${stderr}\n${stdout}`)?.[0];
}
