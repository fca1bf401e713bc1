import { execFileSync } from 'node:child_process';
import { unreachable } from '../../../util/unreachable.ts';
import { architecture } from '../profile/profile.ts';
import type { LaunchOptions, SandboxLaunch, SandboxProbe, SandboxRequest } from '../sandbox.ts';
import { installCommand, trustedProgram, type UntrustedReason } from '../trusted-program.ts';
import { type Features, OWN_ENVIRONMENT } from './bubblewrap-arguments.ts';
import { explain } from './bubblewrap-failure.ts';
import { landlockVersion, noPerl } from './landlock-probe.ts';
import { tryOut } from './try-out.ts';

/** Prepares a launch with the assumed features of this machine. */
type LaunchWith = (request: SandboxRequest, features: Features, options: LaunchOptions) => SandboxLaunch;

/** Tests whether bubblewrap can confine tools here, by running attacks in it. */
export async function probeBubblewrap(launch: LaunchWith): Promise<SandboxProbe> {
  if (process.platform !== 'linux') return { available: false, detail: 'bubblewrap is for Linux' };
  if (architecture() === undefined) {
    return { available: false, detail: `there is no filter of system calls for ${process.arch}` };
  }
  const program = trustedProgram('bwrap');
  if (typeof program === 'string') return distrusted(program);
  const perl = trustedProgram('perl');
  if (typeof perl === 'string') return noPerl();
  const help = helpOf(program.path);
  if (help === undefined) {
    return {
      available: false,
      detail: `${program.path} does not start: it is damaged, or a program for another system`,
      fix: installCommand('bubblewrap').replace(/^apt-get install/, 'apt-get install --reinstall'),
    };
  }
  const landlock = landlockVersion(perl.path);
  if (landlock === undefined) return noPerl();
  const features: Features = {
    landlock,
    canBindDescriptors: help.includes('--ro-bind-fd'),
    canDisableNamespaces: help.includes('--disable-userns'),
    canMountProc: true,
  };
  const trouble = await troubleOf(launch, features);
  if (trouble === undefined) return works(features);
  const withoutProc = { ...features, canMountProc: false };
  if (/mount proc/.test(trouble) && (await troubleOf(launch, withoutProc)) === undefined)
    return works(withoutProc);
  const { means, fix } = explain(trouble);
  return { available: false, detail: `${means} (${trouble})`, fix };
}

function helpOf(program: string): string | undefined {
  try {
    return execFileSync(program, ['--help'], { env: OWN_ENVIRONMENT, encoding: 'utf8', stdio: 'pipe' });
  } catch {
    return undefined;
  }
}

async function troubleOf(launch: LaunchWith, features: Features): Promise<string | undefined> {
  const { trouble } = await tryOut((request, options) => launch(request, features, options));
  return trouble;
}

function works(features: Features): SandboxProbe {
  const missing = [
    ...(features.canMountProc ? [] : ['no /proc in the sandbox']),
    ...(features.landlock > 0 ? [] : ['no Landlock in the kernel, so programs are not limited by name']),
    ...(features.canBindDescriptors ? [] : ['grants are mounted by their paths']),
  ];
  const detail = `works${missing.length > 0 ? `; ${missing.join('; ')}` : ''}`;
  return { available: true, detail, features: { ...features } };
}

function distrusted(why: UntrustedReason): SandboxProbe {
  switch (why) {
    case 'missing':
      return { available: false, detail: 'bubblewrap is not installed', fix: installCommand('bubblewrap') };
    case 'setuid':
      return {
        available: false,
        detail: 'bwrap is set to run as root for everybody, which this sandbox does not use',
        fix: 'chmod u-s "$(command -v bwrap)"',
      };
    case 'writable':
      return {
        available: false,
        detail: 'bwrap could be changed by others than root',
        fix: 'chown root:root "$(command -v bwrap)" && chmod 755 "$(command -v bwrap)"',
      };
    default:
      return unreachable(why);
  }
}
