import { readFileSync } from 'node:fs';
import { AcorError } from '../../../protocol/acor-error.ts';
import { SEE_HEALTH } from '../../../protocol/next-steps.ts';

/** The meaning of a bubblewrap message, and the exact fix. */
interface Explanation {
  means: string;
  fix: string;
}

const IN_CONTAINER =
  'Start the container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined (and --cap-add SYS_ADMIN as root).';

/** Explains, from bubblewrap's output, why the sandbox could not be created. */
export function explain(words: string): Explanation {
  if (/nesting depth or .*namespaces exceeded|No space left on device/.test(words)) {
    return {
      means: 'the system limits the number of namespaces',
      fix: 'sysctl -w user.max_user_namespaces=15000',
    };
  }
  const isUnderAppArmor = readSetting('/proc/sys/kernel/apparmor_restrict_unprivileged_userns') === '1';
  if (isUnderAppArmor && /RTM_NEWADDR|uid map|Permission denied/.test(words)) {
    return {
      means: 'AppArmor keeps ordinary users from namespaces',
      fix: 'apt-get install -y apparmor-profiles && install -m644 /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict',
    };
  }
  if (readSetting('/proc/sys/kernel/unprivileged_userns_clone') === '0') {
    return {
      means: 'the system keeps ordinary users from namespaces',
      fix: 'sysctl -w kernel.unprivileged_userns_clone=1',
    };
  }
  if (readSetting('/proc/sys/user/max_user_namespaces') === '0') {
    return { means: 'the system allows no user namespaces', fix: 'sysctl -w user.max_user_namespaces=15000' };
  }
  if (/namespace failed|No permissions|uid map|Operation not permitted/.test(words)) {
    return { means: 'namespaces may not be made here, as in most containers', fix: IN_CONTAINER };
  }
  return { means: 'bubblewrap could not create the sandbox', fix: 'Check what this machine offers' };
}

/** The error of a run whose sandbox could not be created. ACOR never falls back to a weaker one. */
export function launchFailed(words: string): AcorError {
  const { means, fix } = explain(words);
  const said = words === '' ? '' : `: ${words.split('\n').at(-1)}`;
  return new AcorError('E_SANDBOX_UNAVAILABLE', `the sandbox could not be created, ${means}${said}`, {
    hint: fix,
    next: [SEE_HEALTH],
  });
}

function readSetting(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}
