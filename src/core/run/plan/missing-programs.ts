import { basename, isAbsolute } from 'node:path';
import { isInside, realPathOf } from '../../../util/real-path.ts';
import { programsOf } from '../../../util/shell-commands.ts';
import { findProgram, isProgram } from '../../registry/find-program.ts';
import { executablePaths, utilitiesOf } from '../../sandbox/profile/programs.ts';
import type { SandboxRequest } from '../../sandbox/sandbox.ts';

/** Words that a shell runs itself, although there are programs of these names. */
const BUILTINS = ['[', 'echo', 'false', 'kill', 'printf', 'pwd', 'test', 'true'];

/**
 * The programs that the command line of a call names (`env git …`, `sh -c 'git … | sort'`) and that the sandbox would refuse. `beside` are the
 * utilities that the line starts as well and a shell has only while its manifest names no command.
 */
export function missingPrograms(
  request: Omit<SandboxRequest, 'network'>,
  env: Readonly<Record<string, string | undefined>>,
): { missing: string[]; beside: string[] } {
  const [, ...inner] = programsOf(request.argv);
  const allowed = executablePaths(request).map(realOf);
  const utilities = new Set(utilitiesOf(request));
  const kept = new Set(utilitiesOf({ ...request, commands: ['-'] }));
  const missing: string[] = [];
  const beside: string[] = [];
  for (const name of inner) {
    const path = placeOf(name, env);
    if (path === undefined || BUILTINS.includes(name)) continue;
    if (!allowed.some((each) => isInside(path, each))) missing.push(name);
    else if (utilities.has(basename(name)) && !kept.has(basename(name))) beside.push(name);
  }
  return { missing, beside };
}

/** Where the program of a word is; undefined for a word of the shell, a variable, and what is not installed. */
function placeOf(name: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const found = name.includes('/')
    ? isAbsolute(name) && isProgram(name)
      ? name
      : undefined
    : findProgram(name, env);
  return found && realOf(found);
}

function realOf(path: string): string {
  try {
    return realPathOf(path, '/').path;
  } catch {
    return path;
  }
}
