import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { installCommand, trustedPath, trustedProgram } from './trusted-program.ts';

/**
 * The calls that are reported: those with paths, and those that decide where relative ones start. Other texts, such as the arguments of
 * programs, are left out: they may be secrets.
 */
const OPTIONS = [
  ...['-f', '-qq', '-y', '-s', '0', '-e', 'signal=none'],
  ...['-e', 'trace=%file,fchdir,clone,clone3,fork,vfork'],
];

type Command = readonly [string, ...string[]];

/** Makes the command that starts a sandbox and observes it. */
export type Observe = (argv: Command) => Command;

/** The observer is outside of the sandbox: the tool can neither see it nor write what it writes. */
export function observeTo(trace: string): Observe {
  return (argv) => {
    mkdirSync(dirname(trace), { recursive: true, mode: 0o700 });
    return [trustedPath('strace'), ...OPTIONS, '-o', trace, '--', ...argv];
  };
}

/** Why no tool can be observed here, with the fix; undefined when it can. */
export function observerProblem(): { detail: string; fix: string } | undefined {
  const strace = trustedProgram('strace');
  if (typeof strace === 'string') {
    const detail =
      strace === 'missing' ? 'strace is not installed' : `strace is not trusted: it is ${strace}`;
    return { detail, fix: installCommand('strace') };
  }
  const { status, stderr } = spawnSync(strace.path, [...OPTIONS, '-o', '/dev/null', '--', '/bin/true'], {
    env: {},
    encoding: 'utf8',
  });
  if (status === 0) return undefined;
  return {
    detail: `this system lets no program observe another: ${stderr.trim().split('\n')[0] ?? ''}`,
    fix: 'Allow ptrace: kernel.yama.ptrace_scope must be 0 or 1, and a container needs the capability SYS_PTRACE.',
  };
}
