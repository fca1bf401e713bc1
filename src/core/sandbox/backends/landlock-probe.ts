import { execFileSync } from 'node:child_process';
import { architecture } from '../profile/profile.ts';
import type { SandboxProbe } from '../sandbox.ts';
import { numberOf } from '../seccomp/system-calls.ts';

/** The version of Landlock in this kernel; 0 when there is none. */
export function landlockVersion(perl: string): number {
  const create = numberOf('landlock_create_ruleset', architecture() ?? 'x64');
  const answer = execFileSync(perl, ['-e', `print syscall(${create}, 0, 0, 1)`], {
    env: {},
    encoding: 'utf8',
  });
  return Math.max(0, Number(answer));
}

/** Both backends for Linux start tools through Perl. */
export function noPerl(): SandboxProbe {
  return {
    available: false,
    detail: 'there is no /usr/bin/perl of root’s, through which sandboxes are entered',
    fix: 'apt-get install -y perl-base (or: dnf install perl-interpreter, apk add perl, pacman -S perl)',
  };
}
