import { execFileSync } from 'node:child_process';
import { errorCode } from '../../../util/error-code.ts';
import { architecture } from '../profile/profile.ts';
import type { SandboxProbe } from '../sandbox.ts';
import { numberOf } from '../seccomp/system-calls.ts';
import { installCommand, trustedProgram } from '../trusted-program.ts';
import { type Launch, tryOut } from './try-out.ts';

/** Tests whether Landlock can confine tools here, by running attacks in it. */
export async function probeLandlock(launch: Launch): Promise<SandboxProbe> {
  if (process.platform !== 'linux') return { available: false, detail: 'Landlock is for Linux' };
  if (architecture() === undefined) {
    return { available: false, detail: `there is no filter of system calls for ${process.arch}` };
  }
  const perl = trustedProgram('perl');
  if (typeof perl === 'string') return noPerl();
  const version = landlockVersion(perl.path);
  if (version === undefined) return noPerl();
  if (version < 1) {
    return {
      available: false,
      detail: 'this kernel has no Landlock',
      fix: 'Use Linux 5.13 or later, with landlock among the modules of /sys/kernel/security/lsm.',
    };
  }

  const { trouble } = await tryOut(launch);
  if (trouble !== undefined) return { available: false, detail: trouble };
  return { available: true, detail: `works (version ${version} of the kernel's interface)` };
}

/** The kernel's Landlock version; 0 for a kernel without Landlock. Undefined when Perl may not be executed, as inside a sandbox. */
export function landlockVersion(perl: string): number | undefined {
  const create = numberOf('landlock_create_ruleset', architecture() ?? 'x64');
  try {
    const answer = execFileSync(perl, ['-e', `print syscall(${create}, 0, 0, 1)`], {
      env: {},
      encoding: 'utf8',
    });
    return Math.max(0, Number(answer));
  } catch (error) {
    if (errorCode(error) === 'EACCES' || errorCode(error) === 'EPERM') return undefined;
    throw error;
  }
}

/** Both Linux backends start tools through Perl. */
export function noPerl(): SandboxProbe {
  return {
    available: false,
    detail: 'there is no /usr/bin/perl of root’s that may be executed, through which sandboxes are entered',
    fix: installCommand('perl', { 'apt-get': 'perl-base', dnf: 'perl-interpreter' }),
  };
}
